#include "workplace/edit.h"

#include <set>
#include <thread>

#include "base/text.h"
#include "core/environment_name.h"
#include "workplace/engines.h"
#include "workplace/machines.h"
#include "workplace/orphans.h"
#include "workplace/shared.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// A record of something that only the engine knows, as if somebody else had wanted it.
RecordPointer adopted(Found found) {
  auto record = std::make_shared<Record>(std::move(found.record));
  record->wanted_by[Name("nobody")] = {};
  record->is_adopted = true;
  return record;
}

/// An environment that only the engine knows, unless somebody is just making it.
Result<std::optional<Environment>> lost_environment(const Workplace& place,
                                                    const std::string& name) {
  if (name.empty())
    return std::optional<Environment>();
  auto begun =
      place.store->begin_edit(name, this_process(place.command, place.clock(), place.role));
  // If nothing can be written, nothing is adopted.
  if (!begun)
    return std::optional<Environment>();
  if (const auto* edit = std::get_if<std::unique_ptr<Edit>>(&*begun))
    if (!TRY(place.store->environment(name)))
      TRY(adopt_environment(place, **edit));
  return place.store->environment(name);
}

Event found_event(const Workplace& place, const Key& key) {
  Event event;
  event.time = place.clock();
  event.type = EventType::failed_over;
  event.environment = key.environment;
  event.key = key;
  event.text = "found by its labels; the store lacks its record";
  return event;
}

/// The store may lack the last records of the environment. What they were about bears our marks: it
/// is taken over, so that the next run keeps or changes it, and what nobody wants is an orphan. What
/// the records that are left say is compared with the world by every run. An engine that cannot be
/// asked now is asked the next time.
Status look_for_lost(const Workplace& place, Edit& edit) {
  const auto why = TRY(place.store->note(edit.environment(), failed_over_note));
  if (!why)
    return {};
  place.tell(cat("warning: ", why->is_text() ? why->text() : Name(), "; looking at what `",
                 edit.environment(), "` has"));
  const Known known = TRY(place.store->known(edit.environment()));
  const Result<Known> all = with_found(place, edit.environment(), known);
  if (!all) {
    if (is_cancelled(all.error()))
      return all.error();
    place.tell(cat("warning: what `", edit.environment(),
                   "` has cannot be looked at now: ", all.error().message));
    return {};
  }
  std::set<Key> lost;
  for (const auto& [key, found] : *all)
    if (!known.contains(key))
      lost.insert(key);
  std::vector<Change> changes;
  for (const Key& key : lost) {
    auto record = std::make_shared<Record>(*all->at(key));
    record->wanted_by = {{Name(set_of_lost_records), Digest{}}};
    changes.push_back({Change::record, key, std::move(record), {}});
    changes.push_back({Change::event, {}, nullptr, found_event(place, key)});
    place.tell(cat("found `", shown_key(key), "`, of which the store has no record"));
  }
  TRY(edit.write(changes));
  return edit.put_note(failed_over_note, {});
}

Result<std::unique_ptr<Edit>> take_right(const Workplace& place, const Name& environment,
                                         bool wait) {
  const Holder me = this_process(place.command, place.clock(), place.role);
  bool told = false;
  while (true) {
    auto begun = TRY(place.store->begin_edit(environment, me));
    if (auto* edit = std::get_if<std::unique_ptr<Edit>>(&begun))
      return std::move(*edit);
    const std::string who = to_string(std::get<Holder>(begun));
    if (!wait)
      return world_error(cat("the environment `", environment, "` is in use by ", who));
    if (place.interrupt->asked() > 0)
      return world_error(cat("interrupted while waiting for ", who));
    if (!std::exchange(told, true))
      place.tell(cat("waiting for ", who, ", which is working on `", environment, "`"));
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace

Result<std::unique_ptr<Edit>> begin_edit(const Workplace& place, const Name& environment,
                                         bool wait) {
  std::unique_ptr<Edit> edit = TRY(take_right(place, environment, wait));
  TRY(look_for_lost(place, *edit));
  TRY(remember_machine(place, *edit));
  return Result<std::unique_ptr<Edit>>(std::move(edit));
}

Result<Known> with_found(const Workplace& place, const Name& environment, Known known) {
  for (const Name& name : TRY(engines_of(place))) {
    Driver* const driver = place.driver(name);
    if (driver == nullptr)
      continue;
    Result<std::vector<Found>> all = driver->list(environment, place.interrupt->acts_token());
    // Things on a node that does not answer can be found when it does.
    if (!all && name != own_engine && !is_cancelled(all.error()))
      continue;
    for (const Found& found : TRY(std::move(all)))
      if (!known.contains(found.key))
        known.emplace(found.key, adopted(found));
  }
  return known;
}

Result<bool> adopt_environment(const Workplace& place, Edit& edit) {
  // Without an engine there is nothing to be found.
  const Result<Known> found = with_found(place, edit.environment(), {});
  if (!found || found->empty())
    return false;
  TRY(ensure_environment(place, edit, Value::dict({})));
  std::vector<Change> changes;
  for (const auto& [key, record] : *found)
    changes.push_back({Change::record, key, record, {}});
  TRY(edit.write(changes));
  place.tell(cat("adopted `", edit.environment(), "`, found in the engine but not in the store"));
  return true;
}

bool may_be_uuid(std::string_view text) {
  constexpr size_t least = 4, most = 32;
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool begins_uuid(std::string_view uuid, std::string_view text) {
  return may_be_uuid(text) && uuid.starts_with(text);
}

Result<std::string> name_of_environment(const Workplace& place, const std::string& given) {
  if (!may_be_uuid(given))
    return given;
  std::vector<std::string> fitting;
  for (const Environment& environment : TRY(place.store->environments())) {
    if (environment.name == given)
      return given;
    if (begins_uuid(environment.uuid, given))
      fitting.push_back(environment.name.str());
  }
  if (fitting.size() > 1)
    return user_error(cat("several environments have a uuid that starts with `", given, "`"));
  return fitting.empty() ? given : fitting[0];
}

Result<Environment> find_environment(const Workplace& place, const std::string& name) {
  if (const auto found = TRY(place.store->environment(TRY(name_of_environment(place, name)))))
    return *found;
  if (std::optional<Environment> lost = TRY(lost_environment(place, name)))
    return *lost;
  std::vector<std::string> names;
  bool begins_one = false;
  for (const Environment& environment : TRY(place.store->environments())) {
    names.push_back(environment.name.str());
    begins_one |= !name.empty() && environment.uuid.starts_with(name);
  }
  const bool is_short = begins_one && !may_be_uuid(name);
  return user_error(cat("there is no environment `", printable(name), "`", suggestion(name, names),
                        is_short ? "; a uuid needs at least its first four digits" : "",
                        names.empty() ? "; there are no environments yet" : ""));
}

Result<Hold> hold_environment(const Workplace& place, const std::string& name, bool wait) {
  const Environment found = TRY(find_environment(place, name));
  std::unique_ptr<Edit> edit = TRY(begin_edit(place, found.name, wait));
  if (std::optional<Environment> still = TRY(place.store->environment(found.name)))
    return Hold{*std::move(still), std::move(edit)};
  return world_error(cat("the environment `", found.name, "` has been removed since"));
}

Result<Environment> ensure_environment(const Workplace& place, Edit& edit, const Value& detail) {
  if (std::optional<Environment> found = TRY(place.store->environment(edit.environment())))
    if (!found->is_removing)
      return *found;
  TRY(check_environment_name(edit.environment().view()));
  Environment made{edit.environment(), new_uuid(place), place.clock(), detail};
  TRY(edit.put_environment(made));
  // An environment whose removal was interrupted keeps its data.
  return *TRY(place.store->environment(edit.environment()));
}

namespace {

/// Passes everything to two audiences; either may be missing.
class Both : public Audience {
 public:
  Both(Audience* one, Audience* other) : one_(one), other_(other) {}
  void event(const Event& event) override {
    for (Audience* each : {one_, other_})
      if (each != nullptr)
        each->event(event);
  }
  void progress(const Key& key, const Progress& progress) override {
    for (Audience* each : {one_, other_})
      if (each != nullptr)
        each->progress(key, progress);
  }
  void moved(const Run& run) override {
    for (Audience* each : {one_, other_})
      if (each != nullptr)
        each->moved(run);
  }

 private:
  Audience *one_, *other_;
};

}  // namespace

Result<RunResult> carry_out(const Workplace& place, Edit& edit, RunRequest run_request) {
  // The spectator comes first: the other one then prints about what has ended.
  Both both(place.spectator, run_request.audience);
  if (place.spectator != nullptr)
    run_request.audience = &both;
  run_request.what = place.command;
  if (place.random)
    run_request.options.seed = place.random();
  if (run_request.options.plan.shared == nullptr)
    leave_to_others(TRY(shared_leftovers(place, *run_request.intent, run_request.known)),
                    run_request.options.plan);
  // Up to here nothing is changed, and the first interruption ends it.
  std::optional<Interrupt::ActGuard> acting;
  run_request.begins = [&, then = std::move(run_request.begins)]() -> Status {
    acting.emplace(*place.interrupt);
    return then ? then() : Status();
  };
  RunContext run_context = place.run_context();
  TRY(leave_silent_engines(place, run_request, run_context));
  if (place.executor != nullptr)
    return carry_out(run_context, edit, *place.executor, std::move(run_request));
  Threads threads(*place.interrupt, place.mask.get());
  return carry_out(run_context, edit, threads, std::move(run_request));
}

RecordPointer EditResult::find(const Key& key) const {
  const auto found = known.find(key);
  return found == known.end() || !found->second->applied ? nullptr : found->second;
}

Result<EditResult> edit_by(const Workplace& place, Edit& edit,
                           std::shared_ptr<const Intent> intent) {
  RunRequest run_request;
  run_request.intent = std::move(intent);
  run_request.known = TRY(place.store->known(edit.environment()));
  RunResult run_result = TRY(carry_out(place, edit, std::move(run_request)));
  return EditResult{TRY(std::move(run_result.summary)), run_result.run.known()};
}

int exit_code(const Summary& summary) {
  if (summary.stopped)
    return 130;
  if (!summary.failures.empty() || summary.blocked > 0)
    return 1;
  return summary.skips.empty() ? 0 : 3;
}

}  // namespace fettle
