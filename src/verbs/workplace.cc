#include "verbs/workplace.h"

#include <thread>

#include "base/text.h"

namespace fettle {

std::string new_uuid(const Workplace& place) {
  return to_string(Digest{place.random(), place.random()});
}

Result<Lease> Lease::take(const Workplace& place, const Name& environment, bool wait) {
  const Holder me = this_process(place.command, place.clock());
  bool told = false;
  while (true) {
    const std::optional<Holder> other = TRY(place.store->acquire(environment, me));
    if (!other)
      return Lease(place.store, environment, me);
    const std::string who = cat("`", other->what, "` (process ", other->process, ", since ",
                                to_string(other->since), ")");
    if (!wait)
      return world_error(cat("the environment `", environment, "` is in use by ", who));
    if (place.interrupt->asked() > 0)
      return world_error(cat("interrupted while waiting for ", who));
    if (!std::exchange(told, true))
      place.tell(cat("waiting for ", who, ", which works on `", environment, "`"));
    std::this_thread::sleep_for(100ms);
  }
}

Result<std::optional<Lease>> Lease::take_if_free(const Workplace& place, const Name& environment) {
  const Holder me = this_process(place.command, place.clock());
  if (TRY(place.store->acquire(environment, me)))
    return std::optional<Lease>();
  return std::optional(Lease(place.store, environment, me));
}

Lease::Lease(Lease&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      environment_(std::move(other.environment_)),
      me_(std::move(other.me_)) {}

Lease::~Lease() {
  if (store_ != nullptr)
    static_cast<void>(store_->release(environment_, me_));
}

namespace {

/// The record of something that only the engine knows: as if it had been wanted by somebody else.
RecordPointer adopted(Found found) {
  auto record = std::make_shared<Record>(std::move(found.record));
  record->wanted_by[Name(found_by_marks)] = {};
  record->applied->driver = "engine";
  record->applied->origin = found_by_marks;
  return record;
}

}  // namespace

Result<Known> with_found(const Workplace& place, const Name& environment, Known known) {
  if (Driver* driver = place.driver("engine"))
    for (const Found& found : TRY(driver->list(environment, place.interrupt->acts_token())))
      if (!known.contains(found.key))
        known.emplace(found.key, adopted(found));
  return known;
}

Result<bool> adopt_environment(const Workplace& place, const Name& name) {
  // Without an engine there is nothing to be found.
  const Result<Known> found = with_found(place, name, {});
  if (!found || found->empty())
    return false;
  TRY(ensure_environment(place, name.str(), Value::dict({})));
  std::vector<Change> changes;
  for (const auto& [key, record] : *found)
    changes.push_back({Change::record, key, record, {}});
  TRY(place.store->write(changes));
  place.tell(cat("took over `", name, "`, which the engine has and the store did not know"));
  return true;
}

namespace {

/// One that only the engine knows, unless somebody is just making it.
Result<std::optional<Environment>> lost_environment(const Workplace& place,
                                                    const std::string& name) {
  if (name.empty())
    return std::optional<Environment>();
  const std::optional<Lease> lease = TRY(Lease::take_if_free(place, name));
  if (lease && !TRY(place.store->environment(name)))
    TRY(adopt_environment(place, name));
  return place.store->environment(name);
}

}  // namespace

Result<Environment> find_environment(const Workplace& place, const std::string& name) {
  const std::vector<Environment> all = TRY(place.store->environments());
  std::vector<const Environment*> fitting;
  std::vector<std::string> names;
  for (const Environment& environment : all) {
    if (environment.name == name || environment.uuid == name)
      return environment;
    if (name.size() >= 4 && environment.uuid.starts_with(name))
      fitting.push_back(&environment);
    names.push_back(environment.name.str());
  }
  if (fitting.size() == 1)
    return *fitting[0];
  if (fitting.size() > 1)
    return user_error(cat("several environments have a uuid that begins with `", name, "`"));
  if (std::optional<Environment> lost = TRY(lost_environment(place, name)))
    return *lost;
  return user_error(cat("there is no environment `", name, "`", suggestion(name, names),
                        names.empty() ? "; there are none yet" : ""));
}

Result<Hold> hold_environment(const Workplace& place, const std::string& name, bool wait) {
  const Environment found = TRY(find_environment(place, name));
  Lease lease = TRY(Lease::take(place, found.name, wait));
  if (std::optional<Environment> still = TRY(place.store->environment(found.name)))
    return Hold{*std::move(still), std::move(lease)};
  return user_error(cat("the environment `", found.name, "` was removed meanwhile"));
}

Result<Environment> ensure_environment(const Workplace& place, const std::string& name,
                                       const Value& detail) {
  if (std::optional<Environment> found = TRY(place.store->environment(name)))
    return *found;
  Environment made{name, new_uuid(place), place.clock(), detail};
  TRY(place.store->put_environment(made));
  return made;
}

Status check_ready(const Workplace& place, const Intent& intent, bool has_room) {
  std::map<Name, std::vector<const Resource*>> by_driver;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      by_driver[resource.driver].push_back(&resource);
  for (const auto& [name, resources] : by_driver)
    if (Driver* driver = place.driver(name))
      TRY(driver->ready(has_room ? std::span<const Resource* const>(resources)
                                 : std::span<const Resource* const>(),
                        place.interrupt->acts_token()));
  return {};
}

Result<Seen> look(const Workplace& place, const Intent& intent, const Known& known) {
  std::map<Name, std::vector<Subject>> by_driver;
  std::map<Key, const Resource*> wanted;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      wanted[resource.key] = &resource;
  const auto add = [&](const Key& key, const Resource* resource, const RecordPointer& record) {
    const Kind* kind = place.kinds->find(key.kind);
    const Resource* then = resource != nullptr ? resource : resource_of_then(*record);
    if (kind != nullptr && kind->sort() == Sort::observable && then != nullptr &&
        then->mandate != Mandate::none)
      by_driver[then->driver].push_back({key, resource, record});
  };
  for (const auto& [key, record] : known) {
    const auto found = wanted.find(key);
    add(key, found == wanted.end() ? nullptr : found->second, record);
  }
  // What is never acted on is compared with the world all the same.
  for (const auto& [key, resource] : wanted)
    if (resource->mandate == Mandate::report && !known.contains(key))
      add(key, resource, nullptr);
  Seen seen;
  for (const auto& [name, subjects] : by_driver) {
    Driver* driver = place.driver(name);
    if (driver == nullptr)
      continue;
    const std::vector<Observation> found =
        TRY(driver->observe(subjects, place.interrupt->acts_token()));
    for (size_t i = 0; i < subjects.size(); ++i)
      seen[subjects[i].key] = found[i];
  }
  return seen;
}

Result<Summary> carry_out_intent(const Workplace& place, std::shared_ptr<const Intent> intent,
                                 const Known& known, const RunOptions& options, Audience* audience,
                                 Known* after) {
  TRY(check_ready(place, *intent));
  Seen seen = TRY(look(place, *intent, known));
  Run run = TRY(Run::make(std::move(intent), known, std::move(seen), *place.kinds, options));
  const Surroundings around{place.store, place.driver, place.clock, audience};
  Result<Summary> summary = carry_out(run, around, *place.interrupt);
  if (after != nullptr)
    *after = run.known();
  return summary;
}

}  // namespace fettle
