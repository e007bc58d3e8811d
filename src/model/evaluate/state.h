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

  Budget& budget() const { return *program.budget; }
  /// When the budget refuses: the task that works now is the place.
  Step over() { return errors.fail(now.task->at, budget().refusal(), 0); }
  /// That the current task read a relation, or (`no_slot`) found an instance by an index.
  void remember_reading(const Instance* instance, uint32_t slot, Place at) {
    if (!now.is_probing)
      contributions.read(instance, slot, now.by, at);
  }

  Program& program;
  Diagnosis errors{program};
  Contributions contributions{program.is_for_version};
  Instances instances{program};
  Relations relations{program.arena};
  Schedule schedule{program.arena, instances, relations};
  Underway now;
};

}  // namespace fettle::model
