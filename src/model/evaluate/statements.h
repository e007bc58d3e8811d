#pragma once
/// Statements have no order: each is a task that waits for write-once cells. Whatever a block may
/// still add to a relation is promised to it before.

#include "model/evaluate/state.h"

namespace fettle::model {

class Assignment;
class Cells;
class Evaluator;
class Streams;
class Tasks;

class Statements {
 public:
  Statements(State& state, Cells& cells, Evaluator& evaluator, Assignment& assignment,
             Streams& streams, Tasks& tasks)
      : program_(state.program),
        errors_(state.errors),
        instances_(state.instances),
        relations_(state.relations),
        schedule_(state.schedule),
        now_(state.now),
        cells_(cells),
        evaluator_(evaluator),
        assignment_(assignment),
        streams_(streams),
        tasks_(tasks) {}

  /// Makes tasks of a block's statements. Nested blocks start with their last statement, as in the
  /// original.
  void emit(const Block& block, Frame* frame, bool is_reversed);

  Step execute_statement(Task& task);
  Step execute_implement(Task& task);
  Step execute_promise(Task& task);

 private:
  bool is_ready(const Stmt& statement, Frame* frame);
  void begin(Task& task);
  Step execute_assign(Task& task, const Assign& node);
  Step execute_assign_attribute(Task& task, const AssignAttribute& node);
  Step execute_if(Task& task, const If& node);
  Step execute_for(Task& task, const For& node);
  Frame* frame_of(Task& task);
  void make_promises(Task& task, const Block& block);
  Step probe(const OuterAssignment& foreseen, Task& task);
  Step evaluate_outside(const OuterAssignment& foreseen, Frame* frame, Datum& object);
  Step promise_for(const OuterAssignment& foreseen, Frame* frame, Promises*& held);

  Program& program_;
  Diagnosis& errors_;
  Instances& instances_;
  Relations& relations_;
  Schedule& schedule_;
  Underway& now_;
  Cells& cells_;
  Evaluator& evaluator_;
  Assignment& assignment_;
  Streams& streams_;
  Tasks& tasks_;
};

}  // namespace fettle::model
