#pragma once
/// The one way from an intent to the world: look, ask whether the drivers are ready, plan, act,
/// tell. Whatever changes the world, a run, an edit by a command or a removal, is an intent that
/// comes by here.

#include <memory>

#include "plan/make_plan.h"
#include "reconcile/loop.h"

namespace fettle {

/// Who takes part, beside the intent.
struct RunContext {
  const Kinds& kinds;
  std::function<Driver*(const Name&)> driver;  ///< none when there is no such driver
  Blobs* blobs = nullptr;                      ///< none: contents are not looked at
  std::stop_token stop{};                      ///< ends what only looks
};

struct RunRequest {
  std::shared_ptr<const Intent> intent;
  Known known;  ///< as of the beginning of the edit
  RunOptions options;
  std::string what;              ///< for people and the log: `fettle run shop`
  Value detail;                  ///< of the event that says that it began
  bool needs_room = true;        ///< whether drivers check that what is wanted has room
  Audience* audience = nullptr;  ///< may be null
  /// Called when all is looked at and planned, and nothing is done yet; an error ends it there.
  std::function<Status()> begins{};
  /// Asked after each batch of news whether something else is wanted by now; null: it is not. An
  /// error ends the run.
  std::function<Result<std::shared_ptr<const Intent>>(const Run&)> wants{};
  /// Asked after `wants` answered: records of what the run has not heard of. Whoever knows much
  /// tells a run only of what concerns it.
  std::function<Known(const Run&, const Intent& wanted)> also_known{};
};

/// What came of it. `run` knows the standing and the step of each key.
struct RunResult {
  Run run;
  Result<Summary>
      summary;  ///< an error: the store could not be written, and it ended in the middle
};

/// Errors: nothing was changed. `Blame::user`: the intent cannot be carried out as it is.
/// `Blame::world`: a driver is not ready or cannot look, the store cannot be written.
Result<RunResult> carry_out(const RunContext& run_context, Edit& edit, Executor& executor,
                            RunRequest run_request);

/// Looks at what an intent decides about and was made before, and whether the contents are there
/// that it put out.
Result<Seen> look(const RunContext& run_context, const Intent& intent, const Known& known);
/// Looks at everything that is known.
Result<Seen> look_at_known(const RunContext& run_context, const Known& known);

/// Has each resource look only, one after another as they would come, whatever else they need.
std::shared_ptr<const Intent> only_looks(const Name& environment, std::vector<Resource> resources);

/// What would be done with what looks for itself: their looks are acts that change nothing. In the
/// order of the needs, and nothing is recorded. `resources` have the mandate to report only.
Result<RunResult> look_by_acts(const RunContext& run_context, Executor& executor,
                               std::shared_ptr<const Intent> resources, Known known,
                               const RunOptions& options);

/// What would be done, and why. Borrows from `intent`.
Result<Plan> preview(const RunContext& run_context, const Intent& intent, const Known& known,
                     const PlanOptions& options);

}  // namespace fettle
