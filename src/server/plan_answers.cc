#include "server/plan_answers.h"

#include <algorithm>

#include "base/text.h"
#include "core/environment_name.h"
#include "documents/plans.h"
#include "value/json.h"
#include "verbs/fleet/workload_views.h"
#include "verbs/packages/last_run.h"
#include "verbs/packages/secrets.h"
#include "verbs/states/last_states.h"

namespace fettle {
namespace {

using Words = std::vector<std::string>;

/// None: files of states that need a key, or none at all.
Result<std::optional<PlanCommand>> test_of_states(const Workplace& place, const Name& environment) {
  std::optional<LastStates> last = TRY(read_last_states(place, environment));
  if (!last || last->words.empty())
    return std::optional<PlanCommand>();
  last->words.emplace_back("--test");
  // Its words may have what others are not to read, so they are not told.
  return std::optional(PlanCommand{std::move(last->words), "states", last->folder, {}, true});
}

Result<PlanCommand> command_of_plan(const Workplace& place, const Name& environment) {
  const std::string name = environment.str();
  if (TRY(has_manifests(place, environment)))
    return PlanCommand{{"diff", "-e", name}, "manifests", {}, {"apply", "-e", name}};
  if (const std::optional<LastRun> last = TRY(read_last_run(place, environment)))
    return PlanCommand{{"plan", last->package, "-e", name, "--reuse-args"},
                       "package",
                       {},
                       {"run", last->package, "-e", name, "--reuse-args"},
                       is_of_files(*last)};
  if (!TRY(place.store->versions().heads(environment)).empty())
    return PlanCommand{
        {"plan", "-e", name}, "model", {}, {"versions", "release", "-e", name, "--apply"}};
  if (std::optional<PlanCommand> states = TRY(test_of_states(place, environment)))
    return *std::move(states);
  return user_error(cat("there is no package, model, manifest or file of states that `", name,
                        "` is known to come from; `fettle state --test -e ", name,
                        " FILE` shows the plan of states that need a key"));
}

/// How to make a kept plan again. Nothing: only who made it knows.
Result<std::optional<PlanCommand>> command_of_kept(const Workplace& place, const KeptPlan& kept) {
  // A file may say anything by now, but it gives no flags.
  TRY(check_environment_name(kept.environment));
  std::optional<PlanCommand> made;
  if (kept.version)
    made = {{"plan", "--version", std::to_string(*kept.version)}, "model"};
  else if (kept.package.empty())
    made = TRY(test_of_states(place, kept.environment));
  else if (!kept.package.starts_with('-'))
    made = {{"plan", kept.package}, "package"};
  if (!made)
    return made;
  Words& words = made->words;
  if (made->source != "states")
    words.insert(words.end(), {"-e", kept.environment});
  if (made->source == "package" && TRY(read_last_run(place, kept.environment)))
    words.emplace_back("--reuse-args");
  if (kept.edit_in_place)
    words.emplace_back("--edit-in-place");
  if (kept.replay)
    words.emplace_back("--replay");
  words.insert(words.end(), {"--out", "-"});
  return made;
}

Result<Value> stand_of(const KeptPlan& kept, const Value& document) {
  const KeptPlan now = TRY(read_plan_file(write_json(document), "the plan of now"));
  if (now.asked != kept.asked)
    return stand_document("unknown",
                          "it was made with other arguments or flags than those of the last run");
  if (const Status same = check_plan(now.digest, kept); !same)
    return stand_document("stale", same.error().message);
  return stand_document("due", "the same is to be done now");
}

/// What is secret in the environment is hidden from here on.
Result<PlanFile> plan_file_asked(const RouteCall& call) {
  PlanFile file = TRY(find_plan_file(call.place.home, call.parameter("file")));
  TRY(recall_secrets(call.place, file.plan.environment));
  return file;
}

}  // namespace

Result<ChildCall> ask_plan(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  PlanCommand made = TRY(command_of_plan(call.place, environment.name));
  MadePlan told{call.place.mask->text(cat("fettle ", mask_command(made.words))), made.source,
                std::move(made.carried_out_by), made.reads_files};
  // What is hidden could not be carried out.
  if (std::ranges::any_of(told.carried_out_by, [&](const std::string& word) {
        return call.place.mask->text(word) != word;
      }))
    told.carried_out_by.clear();
  return ChildCall{
      std::move(made.words),
      [told](const Value& plan) -> Result<Value> { return made_plan_document(told, plan); },
      std::move(made.folder)};
}

Result<PlanCommand> command_that_carries_out(const Workplace& place, const Name& environment,
                                             std::string_view source, bool has_plan) {
  PlanCommand made = TRY(command_of_plan(place, environment));
  if (made.source != source)
    return user_error(cat("`", environment,
                          "` comes from something else by now: make the plan "
                          "again"));
  const bool is_checked = made.source == "package" || made.source == "model";
  if (is_checked != has_plan)
    return user_error(is_checked ? cat("the plan of `", environment,
                                       "` is not whole while somebody works on it: make it again")
                                 : std::string("a plan of manifests or states is not kept"));
  if (made.source == "states")
    made.words.pop_back();  // `--test`
  else
    made.words = std::move(made.carried_out_by);
  return made;
}

Result<Value> tell_plans(const RouteCall& call) {
  std::vector<PlanFile> files = TRY(plan_files(call.place.home));
  if (const std::string wanted = call.parameter("environment"); !wanted.empty())
    std::erase_if(files, [&](const PlanFile& file) { return file.plan.environment != wanted; });
  for (const PlanFile& file : files)
    TRY(recall_secrets(call.place, file.plan.environment));
  return document_of(files);
}

Result<Value> tell_plan_file(const RouteCall& call) {
  return document_of(TRY(plan_file_asked(call)));
}

Result<ChildCall> ask_stand_of_plan(const RouteCall& call) {
  const PlanFile file = TRY(plan_file_asked(call));
  std::optional<PlanCommand> made = TRY(command_of_kept(call.place, file.plan));
  if (!made)
    return ChildCall{{}, [](const Value&) -> Result<Value> {
                       return stand_document("unknown",
                                             "it was made of a model in its folder, or of states "
                                             "that need a key: whoever carries it out is told");
                     }};
  return ChildCall{std::move(made->words),
                   [kept = file.plan](const Value& document) { return stand_of(kept, document); },
                   std::move(made->folder)};
}

}  // namespace fettle
