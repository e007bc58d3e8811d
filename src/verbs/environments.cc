#include "verbs/environments.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "model/apply/intent.h"
#include "packages/names.h"
#include "verbs/services.h"

namespace fettle {
namespace {

std::vector<RecordPointer> sorted_services(const Known& known, bool (*wanted)(const Record&)) {
  std::vector<RecordPointer> services;
  for (const auto& [key, record] : known)
    if (key.kind == "service" && wanted(*record))
      services.push_back(record);
  std::sort(services.begin(), services.end(), [](const auto& a, const auto& b) {
    return resource_of_then(*a)->key.name.view() < resource_of_then(*b)->key.name.view();
  });
  return services;
}

std::vector<RecordPointer> services_of(const Known& known) {
  return sorted_services(known, [](const Record& record) { return record.applied.has_value(); });
}

/// Those, and the ones that were never added since the attempt failed.
std::vector<RecordPointer> services_to_show(const Known& known) {
  return sorted_services(known, [](const Record& record) {
    return record.applied.has_value() || (record.attempt && record.attempt->failed);
  });
}

/// How a service is shown; none when there is nothing to show.
std::optional<ServiceView> view_of(const Record& record, const Observation& seen, bool is_removed) {
  if (!seen.state && (is_removed || !record.applied))
    return std::nullopt;
  const Resource& then = *resource_of_then(record);
  ServiceView view;
  view.name = service_name(then.key);
  view.uuid = record.outputs.text_at("uuid");
  view.attributes = then.attributes;
  view.outputs = record.outputs;
  view.container = record.remote_id;
  view.status = "absent";
  if (!seen.state)
    return view;
  view.status = seen.state->text_at("status") == "running" ? "running" : "stopped";
  if (const std::string_view there = seen.state->text_at("container"); there != record.remote_id) {
    view.container = there;
    if (record.attempt && record.attempt->failed) {
      view.status = "failed";
      view.error = record.attempt->error;
    }
  }
  return view;
}

Result<Observation> look_at(const Workplace& place, const RecordPointer& record) {
  Driver* driver = place.driver(record->applied->driver);
  if (driver == nullptr)
    return world_error("there is no engine");
  const Subject subject{record->applied->key, nullptr, record};
  return TRY(driver->observe(std::span(&subject, 1), place.interrupt->acts_token())).front();
}

/// An intent that wants nothing more of any set that wants something now.
std::shared_ptr<const Intent> empty_intent(const Name& environment, const Known& known) {
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  for (const auto& [key, record] : known)
    for (const auto& [set, wish] : record->wanted_by)
      intent->sets[set] = Leftover::remove;
  return intent;
}

}  // namespace

Result<Environment> add_environment(const Workplace& place, const std::string& name,
                                    bool production, bool wait) {
  TRY(check_environment_name(name));
  const Lease lease = TRY(Lease::take(place, name, wait));
  if (TRY(place.store->environment(name)))
    return user_error(cat("the environment `", name, "` exists already"));
  const Environment made =
      TRY(ensure_environment(place, name, Value::dict({{"production", production}})));
  // An empty environment is its network.
  auto intent = std::make_shared<Intent>();
  intent->environment = name;
  intent->sets["cli"] = Leftover::keep;
  Resource network;
  network.key = {name, "network", "default"};
  network.attributes = Value::dict({});
  network.driver = "engine";
  network.origin = "fettle enclave add";
  intent->resources["cli"].push_back(std::move(network));
  const Summary summary =
      TRY(carry_out_intent(place, intent, TRY(place.store->known(name)), {}, nullptr, nullptr));
  if (summary.failures.empty())
    return made;
  // Without its network there is nothing of it, unless nobody knows how far the engine came.
  if (place.interrupt->asked() == 0)
    TRY(place.store->remove_environment(name));
  return summary.failures.front().error;
}

Result<std::vector<Environment>> list_environments(const Workplace& place) {
  std::vector<Environment> known = TRY(place.store->environments());
  // A store without any may be a new one on a machine where fettle has worked before. What is found
  // may as well be somebody else's, so it is only shown.
  Driver* driver = known.empty() ? place.driver("engine") : nullptr;
  if (driver == nullptr)
    return known;
  std::set<Name> names;
  if (const auto found = driver->list({}, place.interrupt->acts_token()))
    for (const Found& one : *found)
      names.insert(one.key.environment);
  for (const Name& name : names)
    known.push_back({name, {}, {}, {}});
  return known;
}

Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name) {
  EnvironmentView view;
  view.environment = TRY(find_environment(place, name));
  const Known known = TRY(place.store->known(view.environment.name));
  const std::vector<RecordPointer> services = services_to_show(known);
  std::vector<Subject> subjects;
  for (const RecordPointer& record : services)
    subjects.push_back({resource_of_then(*record)->key, nullptr, record});
  std::vector<Observation> seen(subjects.size());
  if (Driver* driver = subjects.empty() ? nullptr : place.driver("engine"))
    seen = TRY(driver->observe(subjects, place.interrupt->acts_token()));
  const std::set<Key> removed = removed_services(known, *place.kinds);
  bool any_running = false;
  for (size_t i = 0; i < services.size(); ++i) {
    std::optional<ServiceView> service =
        view_of(*services[i], seen[i], removed.contains(subjects[i].key));
    if (!service)
      continue;
    any_running |= seen[i].state && seen[i].state->text_at("status") == "running";
    view.services.push_back(*std::move(service));
  }
  // The last one of a name is away as long as another one passes by under it.
  std::set<std::string> there;
  for (const ServiceView& service : view.services)
    if (service.status != "absent")
      there.insert(service.name);
  std::erase_if(view.services, [&](const ServiceView& service) {
    return service.status == "absent" && there.contains(service.name);
  });
  for (const auto& [key, record] : known)
    if (key.kind == "artifact" && record->applied)
      view.artifacts.push_back({key.name.str(), std::string(record->outputs.text_at("uuid")),
                                std::string(record->outputs.text_at("digest"))});
  std::sort(view.artifacts.begin(), view.artifacts.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  view.status = view.services.empty() ? "empty" : any_running ? "running" : "stopped";
  return view;
}

Result<ServiceView> inspect_service(const Workplace& place, const Environment& environment,
                                    const std::string& name) {
  const EnvironmentView view = TRY(inspect_environment(place, environment.name.str()));
  for (const bool by_uuid : {false, true})
    for (const ServiceView& service : view.services)
      if (by_uuid ? name.size() >= 4 && service.uuid.starts_with(name) : service.name == name)
        return service;
  TRY(find_service(place, environment.name, name));
  return world_error(cat("the service `", name, "` is away while another one has its name"));
}

Status stop_environment(const Workplace& place, const std::string& name, bool wait) {
  const auto [environment, lease] = TRY(hold_environment(place, name, wait));
  for (const RecordPointer& record : services_of(TRY(place.store->known(environment.name))))
    TRY(transit_service(place, record, Verb::stop));
  return {};
}

Status start_environment(const Workplace& place, const std::string& name, bool wait) {
  const auto [environment, lease] = TRY(hold_environment(place, name, wait));
  for (const RecordPointer& record : services_of(TRY(place.store->known(environment.name)))) {
    const Observation seen = TRY(look_at(place, record));
    if (seen.state && seen.state->text_at("status") != "running")
      TRY(transit_service(place, record, Verb::start));
  }
  return {};
}

namespace {

/// What a model wants of the machine outlives its environment, as what left a model does.
bool stays_on_machine(const Key& key, const Record& record) {
  const Resource* then = resource_of_then(record);
  return model::is_of_model(record) && key.kind != "service" && key.kind != "network" &&
         key.kind != "image" && (then == nullptr || then->leftover != Leftover::remove);
}

}  // namespace

Status remove_environment(const Workplace& place, const std::string& name, bool wait) {
  const auto [environment, lease] = TRY(hold_environment(place, name, wait));
  Known known = TRY(place.store->known(environment.name));
  if (Driver* driver = known.empty() ? nullptr : place.driver("engine"))
    TRY(driver->ready({}, place.interrupt->acts_token()));
  known = TRY(with_found(place, environment.name, std::move(known)));
  // Records that nobody wants any more are of this environment all the same.
  Known wanted;
  for (const auto& [key, record] : known) {
    if (stays_on_machine(key, *record))
      continue;
    auto changed = std::make_shared<Record>(*record);
    if (changed->wanted_by.empty())
      changed->wanted_by[Name("nobody")] = {};
    wanted.emplace(key, std::move(changed));
  }
  RunOptions options;
  options.parallelism = 8;
  const std::shared_ptr<const Intent> intent = empty_intent(environment.name, wanted);
  const Summary summary = TRY(carry_out_intent(place, intent, wanted, options, nullptr, nullptr));
  if (!summary.failures.empty())
    return Error(summary.failures.front().error)
        .context(cat("removing `", to_string(summary.failures.front().key), "`"));
  if (summary.stopped)
    return world_error("interrupted; the same command goes on");
  return place.store->remove_environment(environment.name);
}

Result<bool> remove_environment_if_there(const Workplace& place, const Name& name, bool wait) {
  const Status removed = remove_environment(place, name.str(), wait);
  if (!removed && TRY(place.store->environment(name)))
    return removed.error();
  return removed.has_value();
}

}  // namespace fettle
