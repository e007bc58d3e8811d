#include "workplace/preview.h"

#include "base/hash.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/handled.h"
#include "kinds/state.h"
#include "value/json.h"
#include "workplace/machines.h"

namespace fettle {
namespace {

constexpr int64_t plan_schema = 1;
constexpr std::string_view host_driver = "host";

Value side_of(const Attributes& attributes, uint64_t incarnation, uint64_t changes) {
  return Value::list({dict_of(attributes), incarnation, changes});
}

Value digested(const Step& step) {
  const bool is_known = step.known != nullptr && step.known->applied;
  return Value::list({to_string(step.verb), to_string(step.key), step.maybe,
                      step.wanted == nullptr ? Value() : dict_of(step.wanted->attributes),
                      is_known ? side_of(step.known->applied->attributes, step.known->incarnation,
                                         step.known->changes)
                               : Value(),
                      Value::list(std::vector<Value>(step.fields.begin(), step.fields.end()))});
}

/// A digest of how a thing of this machine is. For containers and artifacts, the verb and its
/// fields say what counts.
Digest digest_of_look(const Step& step, const Seen& seen) {
  const auto found = seen.find(step.key);
  const bool is_here =
      step.wanted != nullptr && step.wanted->driver == host_driver && step.key.kind != "artifact";
  if (found == seen.end() || !is_here)
    return {};
  return found->second.state ? found->second.state->digest() : Digest{1, 1};
}

}  // namespace

std::vector<FieldChange> changes_of(const Workplace& place, const Preview& preview,
                                    const Step& step) {
  const auto looked = preview.changes.find(step.key);
  return looked == preview.changes.end() ? changes_of(place, step)
                                         : changes_of(place, looked->second);
}

Result<PreviewedPlan> look_and_plan(const Workplace& place, const Intent& intent,
                                    const Known& known, PlanOptions options) {
  PreviewedPlan looked;
  TRY(machine_name(place, intent.environment));
  looked.shared = TRY(shared_leftovers(place, intent, known));
  leave_to_others(looked.shared, options);
  looked.seen = TRY(look(place.run_context(), intent, known));
  looked.plan = TRY(make_plan(intent, known, looked.seen, *place.kinds, options));
  return looked;
}

std::string digest_of(const Plan& plan, const Seen& seen) {
  // The order does not count: it is that of the source.
  std::set<std::string> digests;
  for (const Step& step : plan.steps) {
    const Digest digest = combine(digested(step).digest(), digest_of_look(step, seen));
    digests.emplace(reinterpret_cast<const char*>(&digest), sizeof digest);
  }
  std::string text;
  for (const std::string& digest : digests)
    text += digest;
  return sha256_hex(text);
}

KeptPlan kept_plan_of(const Preview& preview) {
  return {preview.environment, digest_of(preview.plan, preview.seen),
          preview.version,     preview.edit_in_place,
          preview.replay,      preview.package,
          preview.asked};
}

Value plan_file_of(const Preview& preview) {
  std::vector<Value> steps;
  for (const Step& step : preview.plan.steps)
    if (step.verb != Verb::keep)
      steps.push_back(Value::dict({{"verb", to_string(step.verb)}, {"key", to_string(step.key)}}));
  return plan_file_of(kept_plan_of(preview), std::move(steps));
}

Value plan_file_of(const KeptPlan& kept, std::vector<Value> steps) {
  return Value::dict({{"fettle_plan", plan_schema},
                      {"environment", kept.environment},
                      {"version", kept.version ? Value(*kept.version) : Value()},
                      {"edit_in_place", kept.edit_in_place},
                      {"replay", kept.replay},
                      {"package", kept.package.empty() ? Value() : Value(kept.package)},
                      {"asked", kept.asked.empty() ? Value() : Value(kept.asked)},
                      {"digest", kept.digest},
                      {"steps", Value::list(std::move(steps))}});
}

Result<KeptPlan> read_plan_file(const std::string& text, const std::string& file) {
  const Result<Value> read = read_json(text, file);
  if (!read || !read->is_dict() || read->integer_at("fettle_plan") != plan_schema ||
      read->text_at("digest").empty())
    return user_error(cat("`", file, "` is not a plan; `fettle plan --out FILE` writes one"));
  KeptPlan kept{std::string(read->text_at("environment")),
                std::string(read->text_at("digest")),
                {},
                read->bool_at("edit_in_place"),
                read->bool_at("replay"),
                std::string(read->text_at("package")),
                std::string(read->text_at("asked"))};
  if (const int64_t version = read->integer_at("version"); version > 0)
    kept.version = static_cast<uint64_t>(version);
  return kept;
}

Status check_plan(const Plan& plan, const Seen& seen, const KeptPlan& kept) {
  return check_plan(digest_of(plan, seen), kept);
}

Status check_plan(const std::string& digest, const KeptPlan& kept) {
  if (digest == kept.digest)
    return {};
  return user_error("the due changes differ from the plan; `fettle plan` shows the current one");
}

Result<std::map<Key, Value>> refine_by_looks(const Workplace& place, const Intent& intent,
                                             const Known& known, PreviewedPlan& looked) {
  std::vector<Resource> resources;
  std::set<Key> looked_at;
  for (const Step& step : looked.plan.steps)
    if (step.verb == Verb::ensure && step.wanted != nullptr && looked_at.insert(step.key).second)
      resources.push_back(*step.wanted);
  std::map<Key, Value> found;
  if (resources.empty())
    return found;
  Threads threads(*place.interrupt, place.mask.get());
  const RunResult run_result =
      TRY(look_by_acts(place.run_context(), threads,
                       only_looks(intent.environment, std::move(resources)), known, {}));
  if (!run_result.summary)
    return run_result.summary.error();
  auto described = std::make_shared<std::map<Key, bool>>();
  for (const Key& key : looked_at)
    if (run_result.run.standing(key) == Standing::unchanged) {
      const Outputs* const outputs = run_result.run.looked(key);
      described->emplace(
          key, outputs != nullptr && read_one<&HandledOutputs::reloads>(*outputs).value_or(false));
    }
  // A thing that is as described is no news for those that need it.
  PlanOptions options;
  options.as_described = described;
  leave_to_others(looked.shared, options);
  looked.plan = TRY(make_plan(intent, known, looked.seen, *place.kinds, options));
  std::map<Key, const Error*> failures;
  for (const Failure& failure : run_result.summary->failures)
    failures.emplace(failure.key, &failure.error);
  for (Step& step : looked.plan.steps) {
    if (step.verb != Verb::ensure || !looked_at.contains(step.key))
      continue;
    if (const auto failed = failures.find(step.key); failed != failures.end()) {
      step.why = cat("unknown: ", failed->second->message);
    } else if (const Outputs* const outputs = run_result.run.looked(step.key);
               outputs != nullptr && !described->contains(step.key)) {
      step.why = "it is not as described";
      found[step.key] = read_one<&StateOutputs::changes>(*outputs);
    }
  }
  return found;
}

}  // namespace fettle
