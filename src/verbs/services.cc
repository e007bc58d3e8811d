#include "verbs/services.h"

#include <thread>

#include "base/text.h"
#include "kinds/kinds.h"
#include "plan/presence.h"
#include "value/json.h"
#include "verbs/executed.h"

namespace fettle {

std::set<Key> removed_services(const Known& known, const Kinds& kinds) {
  const auto left = presences_left(known, kinds);
  std::set<Key> removed;
  for (const auto& [key, record] : known) {
    if (key.kind != "service" || !record->applied)
      continue;
    const auto presence = left.find(key);
    if (record->remote_id.empty() ||
        (presence != left.end() && presence->second == Presence::absent))
      removed.insert(key);
  }
  return removed;
}

Result<std::vector<RecordPointer>> services_there(const Workplace& place, const Name& environment) {
  const Known known = TRY(place.store->known(environment));
  const std::set<Key> removed = removed_services(known, *place.kinds);
  std::vector<RecordPointer> there;
  for (const auto& [key, record] : known)
    if (key.kind == "service" && record->applied && !removed.contains(key))
      there.push_back(record);
  std::sort(there.begin(), there.end(), [](const RecordPointer& a, const RecordPointer& b) {
    return a->applied->key.name.view() < b->applied->key.name.view();
  });
  return there;
}

Result<RecordPointer> find_service(const Workplace& place, const Name& environment,
                                   const std::string& name) {
  std::vector<std::string> names;
  RecordPointer last, passing, by_uuid;
  for (const RecordPointer& record : TRY(services_there(place, environment))) {
    const Key& key = record->applied->key;
    if (service_name(key) == name)
      (key.name == name ? last : passing) = record;
    if (name.size() >= 4 && record->outputs.text_at("uuid").starts_with(name))
      by_uuid = record;
    names.emplace_back(service_name(key));
  }
  // One that passes by has the name as long as it is there.
  for (const RecordPointer& found : {passing, last, by_uuid})
    if (found != nullptr)
      return found;
  const Known known = TRY(place.store->known(environment));
  if (const auto tried = known.find({environment, "service", name});
      tried != known.end() && !tried->second->applied && tried->second->attempt)
    return world_error(cat("the service `", name, "` was never added: ",
                           tried->second->attempt->failed ? tried->second->attempt->error
                                                          : "nobody knows how the attempt ended"));
  return user_error(cat("there is no service `", name, "` in `", environment, "`",
                        suggestion(name, names),
                        names.empty() ? "; it has none" : "; it has " + join(names, ", ")));
}

Status transit_service(const Workplace& place, const RecordPointer& record, Verb verb) {
  Driver* driver = place.driver(record->applied->driver);
  if (driver == nullptr)
    return world_error("there is no engine");
  const std::string type = cat(verb == Verb::remove ? "remove" : to_string(verb), "_service");
  const std::string name(service_name(record->applied->key));
  // Before anything is done: of an edit that is killed, nobody knows how far it came.
  TRY(append_executed(place, record->applied->key.environment,
                      {type, cat(type, "(name=\"", name, "\")"), {name}, {}, {}}));
  Act act;
  act.verb = verb;
  act.key = record->applied->key;
  act.attributes = record->applied->attributes;
  act.known = record;
  act.incarnation = record->incarnation;
  std::vector<Change> changes;
  for (;; ++act.attempt) {
    const Outcome outcome =
        TRY(driver->apply(
                      act, [](const Progress&) {}, place.interrupt->acts_token())
                .context(cat("service `", name, "`")));
    if (const auto* pending = std::get_if<Pending>(&outcome)) {
      if (place.interrupt->asked() > 0)
        return world_error(cat("interrupted while waiting: ", pending->what));
      act.so_far = pending->so_far;
      std::this_thread::sleep_for(pending->retry_after.value_or(50ms));
      continue;
    }
    if (const auto* skipped = std::get_if<Skipped>(&outcome))
      return world_error(skipped->why);
    const Done& done = std::get<Done>(outcome);
    if (verb != Verb::stop) {
      auto changed = std::make_shared<Record>(*record);
      if (verb == Verb::start)
        changed->outputs = done.outputs;
      changed->remote_id = done.remote_id;  // of a removed one: nothing
      changes.push_back({Change::record, act.key, std::move(changed), {}});
    }
    break;
  }
  Event event;
  event.time = place.clock();
  event.type = EventType::done;
  event.environment = act.key.environment;
  event.key = act.key;
  event.verb = verb;
  event.text = place.command;
  changes.push_back({Change::event, {}, nullptr, std::move(event)});
  return place.store->write(changes);
}

Value merged_attributes(const Value& before, const Value& change) {
  std::vector<Entry> entries(before.entries().begin(), before.entries().end());
  entries.insert(entries.end(), change.entries().begin(), change.entries().end());
  return Value::dict(std::move(entries));
}

namespace {

/// A service that only passes by is nobody's wish but its package's, whoever has changed it.
Result<RecordPointer> wanted_as_before(const Workplace& place, const Record& before,
                                       const RecordPointer& now) {
  auto changed = std::make_shared<Record>(*now);
  changed->wanted_by = before.wanted_by;
  const Change change{Change::record, now->applied->key, changed, {}};
  TRY(place.store->write(std::span(&change, 1)));
  return RecordPointer(std::move(changed));
}

}  // namespace

Result<RecordPointer> put_service(const Workplace& place, const Environment& environment,
                                  const std::string& name, Value attributes) {
  const Known known = TRY(place.store->known(environment.name));
  auto intent = std::make_shared<Intent>();
  intent->environment = environment.name;
  intent->sets["cli"] = Leftover::keep;
  std::vector<Resource>& resources = intent->resources["cli"];
  const auto want = [&](std::string_view kind, std::string_view key, Value value) -> Resource& {
    Resource resource;
    resource.key = {environment.name, kind, key};
    resource.attributes = std::move(value);
    resource.driver = "engine";
    resource.origin = place.command;
    resources.push_back(std::move(resource));
    return resources.back();
  };
  if (environment.detail.bool_at("production") && attributes.find("restart") == nullptr)
    attributes = merged_attributes(attributes, Value::dict({{"restart", "always"}}));
  const std::string image(attributes.text_at("image"));
  attributes = merged_attributes(
      attributes,
      Value::dict({{"image_id", Value::deferred({Part(Output{"image", image, "id"})})}}));
  want("network", "default", Value::dict({}));
  want("image", image, TRY(image_kind().normalise(Value::dict({{"reference", image}}))));
  for (const Entry& mount : attributes.at("files").is_dict() ? attributes.at("files").entries()
                                                             : std::span<const Entry>())
    if (const std::string_view key = mount.value.text_at("directory"); !key.empty())
      want("directory", key, TRY(directory_kind().normalise(Value::dict({}))));
  Resource& service = want("service", name, TRY(service_kind().normalise(attributes)));
  service.needs.push_back({{{environment.name, "network", "default"}},
                           false,
                           When::succeeded,
                           Unmet::fail,
                           Bond::order});
  service.pace = {Wait::exponential, 5ms, 250ms};
  const Key key = service.key;
  const std::string called(service_name(key));
  const bool passes_by = called != name;
  if (passes_by)
    service.leftover = Leftover::remove;
  TRY(append_executed(
      place, environment.name,
      {"add_service",
       cat("add_service(name=\"", called, "\", config=", write_json(attributes), ")"),
       {called},
       {},
       {}}));
  Known after;
  const Summary summary = TRY(carry_out_intent(place, intent, known, {}, nullptr, &after));
  if (!summary.failures.empty())
    return summary.failures.front().error;
  const auto found = after.find(key);
  if (found == after.end() || !found->second->applied)
    return world_error(cat("the service `", called, "` was not added"));
  if (const auto before = known.find(key); passes_by && before != known.end())
    return wanted_as_before(place, *before->second, found->second);
  return found->second;
}

}  // namespace fettle
