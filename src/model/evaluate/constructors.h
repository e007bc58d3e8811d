#pragma once
/// Constructors: find or make the instance (a new one, or one that an index has), and set its
/// arguments.

#include <vector>

#include "model/evaluate/state.h"

namespace fettle::model {

class Assignment;
class Evaluator;
class Lookups;
class Streams;

class Constructors {
 public:
  Constructors(State& state, Evaluator& evaluator, Lookups& lookups, Assignment& assignment,
               Streams& streams)
      : program_(state.program),
        errors_(state.errors),
        instances_(state.instances),
        relations_(state.relations),
        schedule_(state.schedule),
        now_(state.now),
        evaluator_(evaluator),
        lookups_(lookups),
        assignment_(assignment),
        streams_(streams) {}

  /// `to`: the relation to which the instance goes.
  Step construct(const Constructor& node, Frame* frame, Datum& value, const Destination* to);
  /// Runs the task of an argument that no index needs.
  Step execute_argument(Task& task);

 private:
  class Values;

  Entity* entity_of(const Constructor& node, const Destination* to);
  bool find_slots(const Constructor& node, const Entity& entity);
  Step unpack(const Constructor& node, const Entity& entity, Frame* frame, Values& values);
  Step find_keys(const Constructor& node, const Entity& entity, Frame* frame, const Destination* to,
                 Values& values);
  std::string matches_text(const Constructor& node, const Entity& entity, Values& values);
  Step find_instance(const Constructor& node, Entity& entity, Values& values, Instance*& found);
  void enter(Instance* instance, bool is_new);
  bool give_argument(const Constructor& node, const Argument& argument, Instance* instance,
                     uint32_t slot, Frame* frame);
  bool fill(const Constructor& node, Instance* instance, Frame* frame, Values& values);
  void select(Instance* instance);

  Program& program_;
  Diagnosis& errors_;
  Instances& instances_;
  Relations& relations_;
  Schedule& schedule_;
  Underway& now_;
  Evaluator& evaluator_;
  Lookups& lookups_;
  Assignment& assignment_;
  Streams& streams_;
  std::vector<Key> keys_;      ///< by index, of the instance being made
  std::vector<Datum> values_;  ///< of constructors under way, by slot
};

}  // namespace fettle::model
