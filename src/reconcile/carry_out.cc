#include "reconcile/carry_out.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "store/null_edit.h"

namespace fettle {
namespace {

using Wanted = std::unordered_map<Key, const Resource*, KeyHash>;

Wanted wanted_of(const Intent& intent) {
  Wanted wanted;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      wanted.emplace(resource.key, &resource);
  return wanted;
}

/// The keys that are requested by hand, and those that they build on.
std::set<Key> keys_of_requests(const Intent& intent, const Known& known) {
  std::set<Key> keys;
  std::vector<Key> open;
  for (const Request& request : intent.requests)
    open.push_back(request.key);
  while (!open.empty()) {
    const Key key = std::move(open.back());
    open.pop_back();
    const auto record = known.find(key);
    const Resource* then = record == known.end() ? nullptr : resource_of_then(*record->second);
    if (then == nullptr || !keys.insert(key).second)
      continue;
    for (const Need& need : then->needs)
      open.insert(open.end(), need.keys.begin(), need.keys.end());
    for (const Output& hole : holes(then->attributes))
      open.push_back({key.environment, hole.kind, hole.name});
  }
  return keys;
}

/// Hosts for which some record names the life of an act.
std::unordered_set<Key, KeyHash> hosts_with_lives(const Known& known) {
  std::unordered_set<Key, KeyHash> hosts;
  for (const auto& [key, record] : known)
    for (const Version& version : record->acted_on)
      if (version.life != 0)
        hosts.insert(version.key);
  return hosts;
}

/// Gathers the subjects that each driver has to look at.
class Subjects {
 public:
  Subjects(const Kinds& kinds, const Known& known)
      : kinds_(kinds), hosts_(hosts_with_lives(known)) {}

  void add(const Key& key, const Resource* wanted, const RecordPointer& known) {
    const Kind* kind = kinds_.find(key.kind);
    const Resource* then = wanted != nullptr ? wanted : resource_of_then(*known);
    if (kind != nullptr && kind->sort() == Sort::observable && then != nullptr &&
        then->mandate != Mandate::none)
      by_driver_[then->driver].push_back({key, wanted, known, hosts_.contains(key)});
  }

  /// A driver that cannot look does not keep others from looking. If none can, that is the error.
  Result<Seen> look(const RunContext& run_context) {
    Seen seen;
    std::optional<Error> failure;
    bool has_looked = false;
    for (auto& [name, subjects] : by_driver_) {
      std::ranges::sort(subjects, {}, &Subject::key);
      Driver* driver = run_context.driver(name);
      if (driver == nullptr)
        continue;
      Result<std::vector<Observation>> found = driver->observe(subjects, run_context.stop);
      if (!found && (is_cancelled(found.error()) || found.error().blame == Blame::bug))
        return found.error();
      has_looked |= found.has_value();
      for (size_t i = 0; i < subjects.size(); ++i)
        seen[subjects[i].key] =
            found ? std::move((*found)[i]) : Observation{{}, false, found.error().message};
      if (!found && !failure)
        failure = std::move(found).error();
    }
    if (failure && !has_looked)
      return *std::move(failure);
    return seen;
  }

 private:
  const Kinds& kinds_;
  std::unordered_set<Key, KeyHash> hosts_;
  std::map<Name, std::vector<Subject>> by_driver_;
};

/// Contents to which records refer, and those of them that are there.
struct ContentUses {
  std::vector<std::pair<Known::const_iterator, Name>> uses;
  Result<DigestSet> there;
};

/// `counts`: whose contents are meant.
template <typename Counts>
ContentUses find_contents(const RunContext& run_context, const Known& known, const Counts& counts) {
  ContentUses found;
  DigestSet digests;
  for (auto at = known.begin(); at != known.end(); ++at) {
    const auto& [key, record] = *at;
    const Kind* const kind = run_context.kinds.find(key.kind);
    if (kind == nullptr || !record->applied || !counts(key))
      continue;
    for (const Name& digest : kind->contents(record->outputs)) {
      found.uses.emplace_back(at, digest);
      digests.insert(digest.str());
    }
  }
  found.there = run_context.blobs->find_all(digests);
  return found;
}

/// Marks the resources whose contents are lost.
Status look_for_contents(const RunContext& run_context, const Wanted& wanted, const Known& known,
                         Seen& seen) {
  const ContentUses found =
      find_contents(run_context, known, [&](const Key& key) { return wanted.contains(key); });
  TRY(found.there);
  for (const auto& [record, digest] : found.uses)
    if (!found.there->contains(digest.view()))
      seen[record->first].content_is_lost = true;
  return {};
}

Event event_of(const RunRequest& run_request, EventType type, Time time, std::string text,
               Value detail) {
  Event event;
  event.time = time;
  event.type = type;
  event.environment = run_request.intent->environment;
  event.key.environment = event.environment;
  event.text = std::move(text);
  event.detail = std::move(detail);
  return event;
}

Status log(Edit& edit, Audience* audience, Event event) {
  if (audience != nullptr)
    audience->event(event);
  const Change change{Change::event, {}, nullptr, std::move(event)};
  return edit.write(std::span(&change, 1));
}

/// Null: it is gone.
Known overlaid(Known known, const Known& newer) {
  for (const auto& [key, record] : newer)
    if (record == nullptr)
      known.erase(key);
    else
      known[key] = record;
  return known;
}

/// What was put by an act may be gone by the time that its record is written: whoever loses the
/// connection to a shared store has no claim to it until then, and others may have cleared it away.
void note_lost_contents(const RunContext& run_context, const Run& run, Summary& summary) {
  const ContentUses found = find_contents(run_context, run.known(), [&](const Key& key) {
    return run.standing(key) == Standing::changed;
  });
  for (const auto& [record, digest] : found.uses)
    if (!found.there || !found.there->contains(digest.view()))
      summary.failures.push_back({record->first, record->second->applied->origin,
                                  found.there ? lost_content_error(digest) : found.there.error()});
}

/// The result of a run, for people.
std::string text_of(const Summary& summary) {
  std::string text;
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0)
      text += cat(text.empty() ? "" : ", ", count, " ", what);
  };
  add(summary.failures.size(), "failed");
  add(summary.skips.size(), "skipped");
  add(summary.unsettled.size(), "unsettled");
  add(summary.blocked, "blocked");
  if (summary.stopped)
    text += text.empty() ? "interrupted" : ", interrupted";
  return text.empty() ? "everything is as wanted" : text;
}

Value counts_of(const Summary& summary) {
  return Value::dict({{"done", summary.done},
                      {"kept", summary.kept},
                      {"failed", summary.failures.size()},
                      {"skipped", summary.skips.size()},
                      {"unsettled", summary.unsettled.size()},
                      {"blocked", summary.blocked}});
}

}  // namespace

namespace {

/// Whether it has to be created, as far as a look tells.
bool has_to_be_made(const Resource& resource, const Known& known, const Seen& seen) {
  const auto record = known.find(resource.key);
  if (record == known.end() || !record->second->applied || record->second->attempt ||
      record->second->applied->attributes != resource.attributes)
    return true;
  const auto found = seen.find(resource.key);
  return found != seen.end() && found->second.unavailable.empty() &&
         (!found->second.state || found->second.content_is_lost);
}

/// Asks each driver that has something to create whether it is ready and has room for it.
Status check_ready(const RunContext& run_context, const RunRequest& run_request, const Seen& seen) {
  std::map<Name, std::vector<const Resource*>> by_driver;
  std::set<Name> needed;
  for (const auto& [set, resources] : run_request.intent->resources)
    for (const Resource& resource : resources) {
      by_driver[resource.driver].push_back(&resource);
      if (has_to_be_made(resource, run_request.known, seen))
        needed.insert(resource.driver);
    }
  for (const Name& name : needed)
    if (Driver* driver = run_context.driver(name))
      TRY(driver->ready(run_request.needs_room ? std::span<const Resource* const>(by_driver[name])
                                               : std::span<const Resource* const>(),
                        run_context.stop));
  return {};
}

/// Whether somebody else may have created it.
bool may_be_there(const Kinds& kinds, const Key& key) {
  const Kind* kind = kinds.find(key.kind);
  return kind != nullptr && !kind->is_marked();
}

}  // namespace

Result<Seen> look(const RunContext& run_context, const Intent& intent, const Known& known) {
  const Wanted wanted = wanted_of(intent);
  const std::set<Key> asked = keys_of_requests(intent, known);
  Subjects subjects(run_context.kinds, known);
  for (const auto& [key, record] : known) {
    const auto found = wanted.find(key);
    if (found != wanted.end())
      subjects.add(key, found->second, record);
    else if (asked.contains(key) || leftover_of(*record, intent) == Leftover::remove)
      subjects.add(key, nullptr, record);
  }
  // A resource that is never acted on is compared with the world all the same, and a new one may
  // exist already.
  for (const auto& [key, resource] : wanted)
    if (!known.contains(key) &&
        (resource->mandate == Mandate::report || may_be_there(run_context.kinds, key)))
      subjects.add(key, resource, nullptr);
  Seen seen = TRY(subjects.look(run_context));
  if (run_context.blobs != nullptr)
    TRY(look_for_contents(run_context, wanted, known, seen));
  return seen;
}

Result<Seen> look_at_known(const RunContext& run_context, const Known& known) {
  Subjects subjects(run_context.kinds, known);
  for (const auto& [key, record] : known)
    subjects.add(key, record->applied ? &*record->applied : nullptr, record);
  return subjects.look(run_context);
}

std::shared_ptr<const Intent> only_looks(const Name& environment, std::vector<Resource> resources) {
  std::set<Key> looked_at;
  for (const Resource& resource : resources)
    looked_at.insert(resource.key);
  for (Resource& resource : resources) {
    resource.mandate = Mandate::report;
    for (Need& need : resource.needs) {
      need.when = When::finished;
      std::erase_if(need.keys, [&](const Key& key) { return !looked_at.contains(key); });
    }
  }
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  intent->resources[Name()] = std::move(resources);
  return intent;
}

Result<RunResult> look_by_acts(const RunContext& run_context, Executor& executor,
                               std::shared_ptr<const Intent> resources, Known known,
                               const RunOptions& options) {
  NullEdit unkept(resources->environment, NullEdit::Use::looks);
  RunResult run_result{
      TRY(Run::make(std::move(resources), std::move(known), {}, run_context.kinds, options)), {}};
  run_result.summary =
      Loop(run_result.run, unkept, executor, run_context.driver, nullptr).carry_out();
  return run_result;
}

Result<Plan> preview(const RunContext& run_context, const Intent& intent, const Known& known,
                     const PlanOptions& options) {
  const Seen seen = TRY(look(run_context, intent, known));
  return make_plan(intent, known, seen, run_context.kinds, options);
}

Result<RunResult> carry_out(const RunContext& run_context, Edit& edit, Executor& executor,
                            RunRequest run_request) {
  Seen seen = TRY(look(run_context, *run_request.intent, run_request.known));
  TRY(check_ready(run_context, run_request, seen));
  RunOptions options = run_request.options;
  if (options.number == 0)
    options.number = edit.number();
  RunResult run_result{TRY(Run::make(run_request.intent, std::move(run_request.known),
                                     std::move(seen), run_context.kinds, options)),
                       {}};
  if (run_request.begins)
    TRY(run_request.begins());
  Audience* audience = run_request.audience;
  TRY(log(edit, audience,
          event_of(run_request, EventType::run_started, executor.now().wall, run_request.what,
                   run_request.detail)));
  AskWhatIsWanted wants;
  if (run_request.wants)
    wants = [&](const Run& run) -> Result<NewWish> {
      NewWish wanted{TRY(run_request.wants(run))};
      if (wanted.intent == nullptr)
        return wanted;
      if (!run_request.also_known) {
        wanted.seen = TRY(look(run_context, *wanted.intent, run.known()));
        return wanted;
      }
      wanted.also_known = run_request.also_known(run, *wanted.intent);
      wanted.seen =
          TRY(look(run_context, *wanted.intent, overlaid(run.known(), wanted.also_known)));
      return wanted;
    };
  run_result.summary =
      Loop(run_result.run, edit, executor, run_context.driver, audience, wants).carry_out();
  if (!run_result.summary)
    return run_result;
  Summary& summary = *run_result.summary;
  if (run_context.blobs != nullptr)
    note_lost_contents(run_context, run_result.run, summary);
  if (Status told = log(edit, audience,
                        event_of(run_request, EventType::run_finished, executor.now().wall,
                                 text_of(summary), counts_of(summary)));
      !told)
    run_result.summary = told.error();
  return run_result;
}

}  // namespace fettle
