#pragma once
/// Executes one step of a task, whatever its kind.

#include "model/evaluate/state.h"

namespace fettle::model {

class Constructors;
class Statements;
class Streams;

class Tasks {
 public:
  Tasks(State& state, Statements& statements, Constructors& constructors, Streams& streams)
      : errors_(state.errors),
        schedule_(state.schedule),
        now_(state.now),
        statements_(statements),
        constructors_(constructors),
        streams_(streams) {}

  /// False: it failed. A task that waits comes again; a finished one is given back.
  bool run(Task& task);

 private:
  Step execute(Task& task);

  Diagnosis& errors_;
  Schedule& schedule_;
  Underway& now_;
  Statements& statements_;
  Constructors& constructors_;
  Streams& streams_;
};

}  // namespace fettle::model
