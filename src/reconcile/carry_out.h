#pragma once
/// The one way from an intent to the world: look, ask whether the drivers are ready, plan, act,
/// tell. Whatever changes the world, be it a run, an edit by a command or a removal, is an intent
/// that goes through here.

#include <memory>

#include "plan/make_plan.h"
#include "reconcile/loop.h"

namespace fettle {

/// The parties of a run, apart from its intent.
struct RunContext {
  const Kinds& kinds;
  std::function<Driver*(const Name&)> driver;  ///< null: there is no such driver
  Blobs* blobs = nullptr;                      ///< null: nobody looks whether contents are there
  std::stop_token stop{};                      ///< ends looks, which change nothing
};

struct RunRequest {
  std::shared_ptr<const Intent> intent;
  Known known;  ///< the records at the beginning of the edit
  RunOptions options;
  std::string what;              ///< for people and the log: `fettle run shop`
  Value detail;                  ///< put into the event that says that it began
  bool needs_room = true;        ///< whether drivers check that there is room
  Audience* audience = nullptr;  ///< may be null
  /// Called when all is looked at and planned, and nothing is done yet. An error ends it there.
  std::function<Status()> begins{};
  /// Says after each batch of news whether something else is wanted by now. Null: it is not. An
  /// error ends the run.
  std::function<Result<std::shared_ptr<const Intent>>(const Run&)> wants{};
  /// Returns records that the run has not heard of, after `wants` has answered. A caller that knows
  /// much tells a run only what concerns it.
  std::function<Known(const Run&, const Intent& wanted)> also_known{};
};

/// The result of a run. `run` knows the standing and the step of each key.
struct RunResult {
  Run run;
  Result<Summary> summary;  ///< an error: the store could not be written, and the run ended early
};

/// Errors: nothing was changed. `Blame::user`: the intent cannot be carried out as it is.
/// `Blame::world`: a driver is not ready or cannot look, or the store cannot be written.
Result<RunResult> carry_out(const RunContext& run_context, Edit& edit, Executor& executor,
                            RunRequest run_request);

/// Looks at what an intent decides about and was made before, and at the contents that it put out.
Result<Seen> look(const RunContext& run_context, const Intent& intent, const Known& known);
/// Looks at everything that is known.
Result<Seen> look_at_known(const RunContext& run_context, const Known& known);

/// An intent of the same resources that only look, one after another in their order, whatever else
/// they need.
std::shared_ptr<const Intent> only_looks(const Name& environment, std::vector<Resource> resources);

/// A preview for resources that look for themselves: their looks are acts that change nothing. They
/// run in the order of the needs, and nothing is recorded. `resources` must have the mandate to
/// report only.
Result<RunResult> look_by_acts(const RunContext& run_context, Executor& executor,
                               std::shared_ptr<const Intent> resources, Known known,
                               const RunOptions& options);

/// What would be done, and why. The plan borrows from `intent`.
Result<Plan> preview(const RunContext& run_context, const Intent& intent, const Known& known,
                     const PlanOptions& options);

}  // namespace fettle
