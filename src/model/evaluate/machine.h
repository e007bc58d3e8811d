#pragma once
/// Runs a program: turns the statements of a model into instances.
///
/// The statements of a model have no order. `x = y` may stand before `y = 1`, an implementation may
/// add to an instance that another file makes, and a relation may be read before its last member is
/// there. The obvious way, to sort the statements by what they need and run each once, fails: which
/// instances there are, and so which statements there are, is known only while they run. To run all
/// statements again and again until nothing changes would be right, and far too slow for millions
/// of them.
///
/// So a statement is a *task*, and a value is a *cell* that is written once. A task that reads a
/// cell without a value waits for that cell, and begins again from its start when the cell is set.
/// What it made before it had to wait is remembered (`Schedule::remember`), so that no constructor
/// runs twice for one task. For example:
///
///     count = std::count(net.hosts)        # 2. waits until `hosts` is complete
///     for host in net.hosts:               # 1. runs for each host as soon as that is there
///         Route(host=host)
///     end
///
/// Lists and options of relations are the one thing that cells do not settle: nobody says when the
/// last member has come. Elements are handed on as they come (`streams.h`), and a task that needs
/// all of them waits until the relation is *frozen* (`relations.h`). That is a guess, made only
/// when nothing else can be done:
///
/// 1. Run tasks until none is ready, and make the calls of plugins that wait (`calls.h`).
/// 2. Freeze one relation that a task waits for, or, when there is none, all that nobody waits for
///    and that may be frozen. Go on with 1.
/// 3. When nothing can be frozen and nothing is ready, the evaluation is over; `finish.cc` reports
///    attributes that nobody has set, and tasks that still wait.
///
/// Invariants:
/// * A cell is written once. A second value is an error unless it is equal.
/// * A wrong guess is an error, never a wrong model: a new member for a frozen relation is refused
///   ("List modified after freeze").
/// * The first failure ends the run; no task runs after it.
/// * Each task spends a step of the program's budget, which ends a model that would never end.
///
/// The machine is the loop of rounds. It owns the parts, each of which has one topic and its own
/// header; `docs/architecture.md` lists them.

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

  /// Runs everything. Empty: the model is good.
  std::vector<Failure> run();

  std::span<Instance* const> instances() const { return state_.instances.all(); }
  const Contributions& contributions() const { return state_.contributions; }

 private:
  bool run_tasks();
  bool run_ready();
  bool freeze_some();
  bool check_defaults();

  // finish.cc
  void finish(std::vector<Failure>& failures);
  void finish_instance(const Instance& instance, std::vector<Failure>& failures);

  // The parts refer to each other; none calls another before the run.
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
