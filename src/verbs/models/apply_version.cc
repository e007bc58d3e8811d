#include "verbs/models/apply_version.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "kinds/handled.h"
#include "model/apply/intent.h"
#include "verbs/models/export_model.h"
#include "verbs/models/plan_version.h"
#include "workplace/orphans.h"

namespace fettle {
namespace {

/// Remembers what the engine says about resources that left the model, and passes it on.
class Listener : public Audience {
 public:
  explicit Listener(Audience* other) : other_(other) {}
  void event(const Event& event) override {
    if (event.type == EventType::removed && event.key.kind != "network" &&
        event.key.kind != "image")
      left.push_back(
          {event.key,
           event.verb == Verb::forget ? LeftResource::Fate::forgotten : LeftResource::Fate::removed,
           {}});
    if (const Value& lines = event.detail.at("printed"); lines.is_list())
      for (const Value& line : lines.items())
        printed[event.key].emplace_back(line.text());
    if (other_ != nullptr)
      other_->event(event);
  }
  void progress(const Key& key, const Progress& progress) override {
    if (other_ != nullptr)
      other_->progress(key, progress);
  }
  void moved(const Run& run) override {
    if (other_ != nullptr)
      other_->moved(run);
  }
  std::vector<LeftResource> left;
  std::map<Key, std::vector<std::string>> printed;  ///< lines of handlers

 private:
  Audience* other_;
};

/// Turns what the engine says about a key into Inmanta's words.
class Judge {
 public:
  Judge(const Run& run, const Summary& summary, const model::ModelIntent& made)
      : run_(run), made_(made) {
    for (const Failure& failure : summary.failures)
      failures_.emplace(failure.key, &failure.error);
    for (const Skip& skip : summary.skips)
      skips_.emplace(skip.key, &skip.why);
  }

  void judge(const Key& key, bool skipped_for_undefined, DeployedResource& resource) const {
    const Standing standing = run_.standing(key);
    const Step* step = run_.step(key);
    resource.why = step == nullptr ? std::string() : step->why.str();
    resource.changed = standing == Standing::changed;
    if (standing == Standing::failed)
      judge_failure(key, resource);
    else if (standing == Standing::skipped)
      judge_skip(key, resource);
    else if (standing == Standing::blocked)
      judge_blocked(step, skipped_for_undefined, resource);
    else if (is_good(standing))
      resource.state = is_compliant(key) ? DeployState::deployed : DeployState::non_compliant;
  }

 private:
  void judge_failure(const Key& key, DeployedResource& resource) const {
    resource.state = DeployState::failed;
    if (const auto found = failures_.find(key); found != failures_.end())
      resource.why = to_string(*found->second);
  }

  void judge_skip(const Key& key, DeployedResource& resource) const {
    resource.state = DeployState::skipped;
    if (const auto found = skips_.find(key); found != skips_.end())
      resource.why = *found->second;
  }

  void judge_blocked(const Step* step, bool skipped_for_undefined,
                     DeployedResource& resource) const {
    resource.state =
        skipped_for_undefined ? DeployState::skipped_for_undefined : DeployState::skipped;
    if (step == nullptr)
      return;
    if (step->obstacle == Obstacle::undefined)
      resource.state = DeployState::undefined;
    else if (step->obstacle == Obstacle::report_only)
      resource.state = DeployState::non_compliant;
    else if (step->obstacle == Obstacle::unavailable)
      resource.state = DeployState::unavailable;
    const auto note = made_.notes.find(resource.id);
    if (resource.state == DeployState::unavailable && note != made_.notes.end())
      resource.why = note->second;
  }

  /// A handler that only reports says in its outputs what it found.
  bool is_compliant(const Key& key) const {
    const auto found = run_.known().find(key);
    return found == run_.known().end() || key.kind != "handled" ||
           read_one<&HandledOutputs::is_compliant>(found->second->outputs);
  }

  const Run& run_;
  const model::ModelIntent& made_;
  std::map<Key, const Error*> failures_;
  std::map<Key, const std::string*> skips_;
};

/// Adds resources that left the model and are still there, because their removal failed or was left
/// for another run. Nobody wants them, so they have no rows of their own.
void add_unremoved(const Summary& summary, const model::ModelIntent& made, ApplyReport& report) {
  std::set<Key> wanted;
  for (const auto& [id, key] : made.keys)
    wanted.insert(key);
  for (const Failure& failure : summary.failures)
    if (!wanted.contains(failure.key))
      report.left.push_back({failure.key, LeftResource::Fate::failed, to_string(failure.error)});
  for (const Skip& skip : summary.skips)
    if (!wanted.contains(skip.key))
      report.left.push_back({skip.key, LeftResource::Fate::skipped, skip.why});
}

}  // namespace

std::string_view to_string(DeployState state) {
  constexpr std::array<std::string_view, 8> names{
      "deployed",    "failed",    "skipped",       "skipped_for_undefined",
      "unavailable", "undefined", "non_compliant", "available"};
  return names[static_cast<size_t>(state)];
}

std::string_view to_string(LeftResource::Fate fate) {
  constexpr std::array<std::string_view, 5> names{"orphaned", "forgotten", "removed", "failed",
                                                  "skipped"};
  return names[static_cast<size_t>(fate)];
}

size_t ApplyReport::count(DeployState state) const {
  return static_cast<size_t>(
      std::count_if(resources.begin(), resources.end(),
                    [&](const DeployedResource& one) { return one.state == state; }));
}

int ApplyReport::exit_code() const {
  const auto is_left = [&](LeftResource::Fate fate) {
    return std::ranges::any_of(left, [&](const LeftResource& one) { return one.fate == fate; });
  };
  if (is_stopped)
    return 130;
  if (count(DeployState::failed) > 0 || is_left(LeftResource::Fate::failed))
    return 1;
  if (is_left(LeftResource::Fate::skipped))
    return 3;
  constexpr std::array left_out{DeployState::skipped, DeployState::skipped_for_undefined,
                                DeployState::unavailable, DeployState::undefined};
  return std::ranges::any_of(left_out, [&](DeployState state) { return count(state) > 0; }) ? 3 : 0;
}

namespace {

/// The changes of a thing that was there before.
std::vector<FieldChange> changes_made(const Workplace& place, const Run& run, const Key& key) {
  const auto record = run.known().find(key);
  if (key.kind == "handled" && record != run.known().end())
    return changes_of(place, read_one<&HandledOutputs::changes>(record->second->outputs).value());
  const Step* const step = run.step(key);
  return step == nullptr ? std::vector<FieldChange>() : changes_of(place, *step);
}

/// The result of the run, resource by resource.
std::vector<DeployedResource> judged(const Workplace& place, const RunResult& run_result,
                                     const model::ModelIntent& made, const WholeVersion& version,
                                     Listener& listener) {
  const Judge judge(run_result.run, *run_result.summary, made);
  std::unordered_map<Name, const WholeItem*> by_id;
  for (const WholeItem& whole : version.items)
    by_id.emplace(whole.item.id, &whole);
  std::vector<DeployedResource> resources;
  for (const auto& [id, key] : made.keys) {
    const WholeItem& whole = *by_id.at(id);
    DeployedResource resource;
    resource.id = id;
    resource.set = whole.set;
    resource.origin = whole.item.origin;
    judge.judge(key, whole.state == WholeItem::State::skipped_for_undefined, resource);
    if (const auto said = listener.printed.find(key); said != listener.printed.end())
      resource.printed = std::move(said->second);
    if (resource.changed)
      resource.changes = changes_made(place, run_result.run, key);
    if (const Step* const step = run_result.run.step(key);
        resource.changed && resource.state == DeployState::deployed && step != nullptr &&
        step->verb == Verb::ensure && step->known != nullptr && step->known->applied &&
        !(resource.changes.empty() && !step->because.kind.empty()))
      resource.why = "it was not as described";
    resources.push_back(std::move(resource));
  }
  return resources;
}

Result<VersionHead> head_asked(const Workplace& place, const Name& environment,
                               std::optional<uint64_t> version) {
  Versions& versions = place.store->versions();
  while (true) {
    const uint64_t number =
        version ? *version : TRY(versions.open(environment, std::nullopt))->number();
    if (const std::optional<VersionHead> head = TRY(versions.head(environment, number)))
      return *head;
    if (number > 0 && !version)
      continue;  // removed since it was found
    return user_error(number == 0 ? cat("nothing was exported to `", environment, "` yet")
                                  : cat("`", environment, "` has no version ", number));
  }
}

/// The version to deploy, which may have been removed while we waited.
Result<WholeVersion> version_asked(const Workplace& place, const ApplyRequest& request) {
  std::optional<uint64_t> number = request.version;
  if (number) {
    const std::optional<VersionHead> head =
        TRY(place.store->versions().head(request.environment, *number));
    if (!head || !(head->released || request.releases))
      return world_error(cat("version ", *number, " of `", request.environment,
                             "` has been removed since; nothing was deployed"));
  } else if (request.releases) {
    number = TRY(head_asked(place, request.environment, {})).number;
  }
  return read_version(place, request.environment, number);
}

/// Adds the things that stay in the world although no version wants them.
Status add_orphans(const Workplace& place, Edit& edit, const Intent& intent, const Known& known,
                   ApplyReport& report) {
  const Departures left = TRY(mark_orphans(place, edit, intent, known, true));
  std::set<Key> orphaned(left.orphaned.begin(), left.orphaned.end());
  // If a thing was an orphan before, a removal that did not happen is reported.
  for (const auto& [key, sharer] : left.shared)
    if (leftover_of(*known.at(key), intent) == Leftover::remove)
      orphaned.insert(key);
  // A thing that should have gone and is still there was reported with its reason.
  for (const LeftResource& one : report.left)
    orphaned.erase(one.key);
  for (const Key& key : orphaned) {
    const auto sharer = left.shared.find(key);
    report.left.push_back({key,
                           LeftResource::Fate::orphaned,
                           {},
                           sharer == left.shared.end()
                               ? std::string()
                               : to_string(sharer->second, intent.environment)});
  }
  report.shared = left.shared.size();
  for (const Key& key : left.forgotten)
    report.left.push_back({key, LeftResource::Fate::forgotten, {}});
  report.orphans = left.orphans;
  return {};
}

}  // namespace

Result<ApplyReport> apply_version(const Workplace& place, const ApplyRequest& request,
                                  Audience* audience) {
  const Instant began = instant_from_clock();
  if (request.releases)
    TRY(head_asked(place, request.environment, request.version));
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, request.environment, request.wait));
  const WholeVersion version = TRY(version_asked(place, request));
  ApplyReport report;
  report.version = version.head.number;
  PlannedModel planned = TRY(planned_version(place, request, version));
  const model::ModelIntent& made = planned.made;
  if (request.plan) {
    const Preview now = TRY(preview_model(place, request.environment, planned));
    TRY(check_plan(now.plan, now.seen, *request.plan));
  }
  if (request.releases)
    TRY(release_version(place, request.environment, report.version));
  RunRequest run_request;
  run_request.known = std::move(planned.known);
  run_request.intent = made.intent;
  run_request.options.parallelism = std::max(1, request.parallelism);
  run_request.detail = Value::dict({{"version", report.version}});
  Listener listener(audience);
  run_request.audience = &listener;
  const RunResult run_result = TRY(carry_out(place, *edit, std::move(run_request)));
  if (!run_result.summary)
    return run_result.summary.error();
  report.is_stopped = run_result.summary->stopped;
  report.resources = judged(place, run_result, made, version, listener);
  report.left = std::move(listener.left);
  add_unremoved(*run_result.summary, made, report);
  TRY(add_orphans(place, *edit, *made.intent, run_result.run.known(), report));
  std::stable_sort(report.left.begin(), report.left.end(),
                   [](const LeftResource& a, const LeftResource& b) { return a.key < b.key; });
  report.took = instant_from_clock() - began;
  return report;
}

Result<uint64_t> release_version(const Workplace& place, const Name& environment,
                                 std::optional<uint64_t> version) {
  while (true) {
    const VersionHead head = TRY(head_asked(place, environment, version));
    const Status released = place.store->wish(
        environment, [&](Wish& wish) { return wish.release(head.number, place.clock()); });
    if (released)
      return head.number;
    if (version || TRY(place.store->versions().head(environment, head.number)))
      return released.error();
  }
}

}  // namespace fettle
