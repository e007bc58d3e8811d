#pragma once
/// What all parts of the evaluation share: what is there so far, and which task is under way. Each
/// part names in its constructor what of it it uses, and which other parts.

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

  /// Every name is resolved; from here on only values and counts are added.
  Program& program;
  /// No task between two tasks; changed by `Scoped` only.
  Underway now;
  /// A failure that is there when a task ends is the last: no other task runs.
  Diagnosis errors{program, now};
  /// In the order in which they were made.
  Contributions contributions{program.is_for_version, now};
  /// An instance stands at its number.
  Instances instances{program};
  /// A relation is here from when somebody first asks for it; frozen, it takes nothing any more.
  Relations relations{program.arena};
  /// A task that is not done is ready, or misses something and is told when that is there.
  Schedule schedule{program.arena, instances, relations};
};

}  // namespace fettle::model
