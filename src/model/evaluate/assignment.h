#pragma once
/// Sets attributes and relations: a value is checked, kept, passed on, and set on the other side,
/// too.

#include "model/evaluate/state.h"

namespace fettle::model {

class Cells;
class Streams;
class TypeChecks;

class Assignment {
 public:
  Assignment(State& state, Cells& cells, TypeChecks& types, Streams& streams)
      : program_(state.program),
        errors_(state.errors),
        contributions_(state.contributions),
        relations_(state.relations),
        now_(state.now),
        cells_(cells),
        types_(types),
        streams_(streams) {}

  /// False: it failed.
  bool set_slot(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer);
  /// Closes a relation: it gets nothing more.
  void freeze(DelayedList& delayed);

 private:
  bool set_any(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_all(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_empty(Instance* owner, uint32_t slot, Place at);
  bool set_value(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_inverse(Instance* owner, const Attribute& attribute, Instance* other, Place at);
  bool refuse_type(const Attribute& attribute, const Datum& value, Place at);
  bool add_item(Instance* owner, uint32_t slot, const Datum& value, Place at, bool sets_inverse);
  bool refuse_late(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool is_member(DelayedList& delayed, Instance* owner, uint32_t slot, const Datum& value,
                 Place at);
  bool tell_listeners(const DelayedList& delayed, const Datum& value, Place at);

  Program& program_;
  Diagnosis& errors_;
  Contributions& contributions_;
  Relations& relations_;
  const Underway& now_;
  Cells& cells_;
  TypeChecks& types_;
  Streams& streams_;
};

}  // namespace fettle::model
