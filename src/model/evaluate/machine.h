#pragma once
/// Runs a program. Statements have no order: each is a task that waits for write-once cells. Only
/// lists and options of relations need a guess when they are complete: then they are frozen.
///
/// The machine is the loop of rounds; it owns the parts, each of which has one topic and its own
/// header.

#include "model/evaluate/assignment.h"
#include "model/evaluate/calls.h"
#include "model/evaluate/cells.h"
#include "model/evaluate/constructors.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/lookups.h"
#include "model/evaluate/plugin_context.h"
#include "model/evaluate/statements.h"
#include "model/evaluate/streams.h"
#include "model/evaluate/tasks.h"
#include "model/evaluate/type_checks.h"

namespace fettle::model {

class Machine {
 public:
  Machine(Program& program, std::function<void(std::string_view)> print)
      : state_(program), context_(state_, cells_, evaluator_, types_, std::move(print)) {}

  /// Everything; empty when the model is good.
  std::vector<Failure> run();

  std::span<Instance* const> instances() const { return state_.instances.all(); }
  const Contributions& contributions() const { return state_.contributions; }

 private:
  bool run_ready();
  bool freeze_some();
  bool check_defaults();

  // finish.cc
  void finish(std::vector<Failure>& failures);
  void finish_instance(const Instance& instance, std::vector<Failure>& failures);

  // The parts know each other by reference; none calls another before the run.
  State state_;
  Cells cells_{state_};
  TypeChecks types_{state_, evaluator_};
  Lookups lookups_{state_, evaluator_};
  PluginContext context_;
  Calls calls_{state_, evaluator_, context_};
  Evaluator evaluator_{state_, cells_, lookups_, calls_, constructors_};
  Constructors constructors_{state_, evaluator_, lookups_, assignment_, streams_};
  Assignment assignment_{state_, cells_, types_, streams_};
  Streams streams_{state_, cells_, evaluator_, assignment_, statements_, tasks_};
  Statements statements_{state_, cells_, evaluator_, assignment_, streams_, tasks_};
  Tasks tasks_{state_, statements_, constructors_, streams_};
};

}  // namespace fettle::model
