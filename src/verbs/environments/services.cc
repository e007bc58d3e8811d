#include "verbs/environments/services.h"

#include "base/text.h"
#include "kinds/engine_needs.h"
#include "kinds/image_reference.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/instructions/instruction.h"
#include "plan/presence.h"
#include "verbs/packages/package_run.h"
#include "workplace/engines.h"

namespace fettle {

Result<RecordPointer> find_service(const Workplace& place, const Name& environment,
                                   const std::string& name) {
  const Known known = TRY(place.store->known(environment));
  std::vector<std::string> names;
  RecordPointer last, passing, by_uuid;
  for (const RecordPointer& record : services_there(known, *place.kinds)) {
    const Key& key = record->applied->key;
    if (service_name(key) == name)
      (key.name == name ? last : passing) = record;
    if (begins_uuid(read_one<&ServiceOutputs::uuid>(record->outputs), name))
      by_uuid = record;
    names.emplace_back(service_name(key));
  }
  // A service that passes by has the name as long as it is there.
  for (const RecordPointer& found : {passing, last, by_uuid})
    if (found != nullptr)
      return found;
  if (const auto tried = known.find({environment, "service", name});
      tried != known.end() && !tried->second->applied && tried->second->attempt)
    return world_error(cat("the service `", name, "` was never added: ",
                           tried->second->attempt->failed ? tried->second->attempt->error
                                                          : "the outcome of the attempt is unknown",
                           "; `fettle service rm ", environment, " ", name,
                           "` removes the rest of it"));
  return user_error(cat("there is no service `", name, "` in `", environment, "`",
                        names.empty()                     ? "; it has no services"
                        : suggestion(name, names).empty() ? "; it has " + join(names, ", ")
                                                          : suggestion(name, names)));
}

Result<RecordPointer> find_service_or_attempt(const Workplace& place, const Name& environment,
                                              const std::string& name) {
  const Known known = TRY(place.store->known(environment));
  const auto tried = known.find({environment, "service", name});
  const bool is_attempt = tried != known.end() && !tried->second->applied && tried->second->attempt;
  return is_attempt ? Result<RecordPointer>(tried->second) : find_service(place, environment, name);
}

Result<Summary> transit_services(const Workplace& place, Edit& edit,
                                 const std::vector<RecordPointer>& services, Verb verb) {
  auto intent = std::make_shared<Intent>();
  intent->environment = edit.environment();
  // Once the removal succeeds, nobody wants by hand what was wanted by hand.
  intent->sets[by_hand] = Leftover::keep;
  const std::string type = cat(verb == Verb::remove ? "remove" : to_string(verb), "_service");
  for (const RecordPointer& record : services) {
    const Key& key = resource_of_then(*record)->key;
    const std::string name(service_name(key));
    intent->requests.push_back({key, verb});
    // Written before anything is done: if the edit is killed, nobody knows how far it came.
    TRY(append_executed(place, edit, {type, cat(type, "(name=\"", name, "\")"), {name}, {}, {}}));
  }
  return TRY(edit_by(place, edit, intent)).summary;
}

namespace {

/// The dict with the entries of `change` put over it.
Value merged_dicts(const Value& before, const Value& change) {
  if (!before.is_dict() || !change.is_dict())
    return change;
  std::vector<Entry> entries(before.entries().begin(), before.entries().end());
  entries.insert(entries.end(), change.entries().begin(), change.entries().end());
  return Value::dict(std::move(entries));
}

}  // namespace

Value merged_attributes(const Value& before, const Value& change) {
  std::vector<Entry> entries(before.entries().begin(), before.entries().end());
  for (const Entry& entry : change.entries()) {
    const bool by_entry = entry.key == "env" || entry.key == "ports" || entry.key == "files";
    entries.push_back(
        {entry.key, by_entry ? merged_dicts(before.at(entry.key), entry.value) : entry.value});
  }
  return Value::dict(std::move(entries));
}

namespace {

/// The intent of a service put by hand, and of what it stands on.
class ServiceIntent {
 public:
  ServiceIntent(const Workplace& place, const Environment& environment, const Name& set)
      : place_(place), environment_(environment), intent_(std::make_shared<Intent>()), set_(set) {
    intent_->environment = environment.name;
    if (!set.empty())
      intent_->sets[set] = Leftover::keep;
  }

  Result<Value> want_service(const std::string& name, Value attributes) {
    if (environment_.detail.bool_at("production") && attributes.find("restart") == nullptr)
      attributes = merged_dicts(attributes, Value::dict({{"restart", "always"}}));
    const Name image = read_one<&Service::image>(attributes).get();
    TRY(check_image_reference(image));
    attributes = merged_dicts(attributes, Value::dict({{"image_id", image_id_hole(image)}}));
    Resource service = resource("service", name, TRY(service_kind().normalise(attributes)));
    service.pace = {Wait::exponential, 5ms, 250ms};
    if (service_name(service.key) != name)
      service.leftover = Leftover::remove;
    EngineNeeds needs(environment_.name);
    needs.add(service, image, image);
    for (Resource& needed : needs.resources())
      want(std::move(needed));
    const Dict files = read_one<&Service::files>(attributes);
    for (const Entry& mount : files.entries())
      if (const Name key = read_one<&DirectoryMount::directory>(mount.value).get(); !key.empty())
        want(resource("directory", key, TRY(directory_kind().normalise(Value::dict({})))));
    want(std::move(service));
    return attributes;
  }

  std::shared_ptr<const Intent> finish() { return std::move(intent_); }

 private:
  Resource resource(std::string_view kind, std::string_view key, Attributes attributes) const {
    Resource made;
    made.key = {environment_.name, kind, key};
    made.attributes = std::move(attributes);
    made.driver = own_engine;
    return made;
  }

  void want(Resource resource) {
    resource.origin = place_.command;
    intent_->resources[set_].push_back(std::move(resource));
  }

  const Workplace& place_;
  const Environment& environment_;
  std::shared_ptr<Intent> intent_;
  Name set_;
};

}  // namespace

Result<EditResult> put_service(const Workplace& place, Edit& edit, const Environment& environment,
                               PutService service) {
  const Known known = TRY(place.store->known(environment.name));
  const Key key{environment.name, "service", service.name};
  const auto before = known.find(key);
  const bool is_there = before != known.end() && before->second->applied &&
                        !removed_services(known, *place.kinds).contains(key);
  const std::string called(service_name(key));
  if (service.is_new && is_there)
    return user_error(cat("there is a service `", called, "` already; `fettle service update ",
                          environment.name, " ", called, "` changes it"));
  // A service that others want stays theirs, whoever changes it.
  const bool is_ours = !is_there || before->second->wanted_by.contains(by_hand);
  ServiceIntent intent(place, environment, is_ours ? Name(by_hand) : Name());
  const Value attributes = TRY(intent.want_service(service.name, std::move(service.attributes)));
  TRY(append_executed(place, edit, listed_service(called, mask_variables(attributes))));
  return edit_by(place, edit, intent.finish());
}

}  // namespace fettle
