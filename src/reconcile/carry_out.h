#pragma once
/// The one way from an intent to the world: look, ask whether the drivers are ready, plan, act,
/// report. Everything that changes the world, whether a run, an edit by a command or a removal, is
/// an intent that goes through here.

#include <memory>

#include "plan/make_plan.h"
#include "reconcile/loop.h"

namespace fettle {

/// The parties of a run, apart from its intent.
struct RunContext {
  const Kinds& kinds;
  std::function<Driver*(const Name&)> driver;  ///< null: there is no such driver
  Blobs* blobs = nullptr;                      ///< null: contents are not checked
  std::stop_token stop{};                      ///< ends looks, which change nothing
};

struct RunRequest {
  std::shared_ptr<const Intent> intent;
  Known known;  ///< the records at the start of the edit
  RunOptions options;
  std::string what;              ///< for people and the log: `fettle run shop`
  Value detail;                  ///< put into the event that says that it started
  bool needs_room = true;        ///< whether drivers check that there is room
  Audience* audience = nullptr;  ///< may be null
  /// Called when everything is looked at and planned, and nothing is done yet. An error ends the
  /// run.
  std::function<Status()> begins{};
  /// Returns the new intent if the wish has changed; asked after each batch of news. Null: it has
  /// not. An error ends the run.
  std::function<Result<std::shared_ptr<const Intent>>(const Run&)> wants{};
  /// Returns records that the run does not know, or knows as they were before others changed them
  /// (null: they are gone), after `wants` has answered. A caller with many records gives a run only
  /// those that concern it.
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

/// Looks at the resources that an intent decides about and that were made before, and at their
/// contents.
Result<Seen> look(const RunContext& run_context, const Intent& intent, const Known& known);
/// Looks at everything that is known.
Result<Seen> look_at_known(const RunContext& run_context, const Known& known);

/// An intent of the same resources that only look, one after another in their order, regardless of
/// their needs.
std::shared_ptr<const Intent> only_looks(const Name& environment, std::vector<Resource> resources);

/// A preview for resources that look for themselves: their looks are acts that change nothing. They
/// run in the order of the needs, and nothing is recorded. `resources` must have the mandate to
/// report only.
Result<RunResult> look_by_acts(const RunContext& run_context, Executor& executor,
                               std::shared_ptr<const Intent> resources, Known known,
                               const RunOptions& options);

/// The steps of a run, and their reasons. The plan borrows from `intent`.
Result<Plan> preview(const RunContext& run_context, const Intent& intent, const Known& known,
                     const PlanOptions& options);

}  // namespace fettle
