#pragma once
/// The data that all parts of the evaluation share: what is there so far, and which task runs. The
/// constructor of each part names the data that it uses, and the other parts.

#include "model/evaluate/contributions.h"
#include "model/evaluate/diagnosis.h"
#include "model/evaluate/instances.h"
#include "model/evaluate/relations.h"
#include "model/evaluate/schedule.h"
#include "model/evaluate/underway.h"

namespace fettle::model {

struct State {
  explicit State(Program& of) : program(of) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Every name is resolved. From here on, only values and counts are added.
  Program& program;
  /// Between two tasks there is none. Changed only by `ScopeGuard`.
  Underway now;
  /// If there is a failure when a task ends, no other task runs.
  Diagnosis errors{program, now};
  /// The contributions, in the order in which they were made.
  Contributions contributions{program.is_for_version, now};
  /// An instance stands at its number.
  Instances instances{program};
  /// A relation is here once somebody has asked for it. When it is frozen, it accepts nothing more.
  Relations relations{program.arena};
  /// A task that is not finished is ready, or misses something and is told when that is there.
  Schedule schedule{program.arena, instances, relations};
};

}  // namespace fettle::model
