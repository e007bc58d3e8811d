#include "model/apply/intent.h"

#include <unordered_map>

#include "base/text.h"
#include "core/machine_driver.h"
#include "kinds/engine_needs.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "model/apply/types.h"
#include "model/export/resource_id.h"

namespace fettle::model {
namespace {

constexpr std::string_view set_prefix = "model:";
constexpr std::string_view this_machine = "local:", machine_of_agent = "agent://";
constexpr std::string_view agent_config = "std::AgentConfig";

class Mapper {
 public:
  Mapper(std::span<const WantedResource> resources, const ApplyOptions& options)
      : resources_(resources), options_(options), intent_(std::make_shared<Intent>()) {
    intent_->environment = options.environment;
  }

  Result<ModelIntent> map(const Known& known) {
    TRY(read_ids());
    find_agents();
    speak_for_sets(known);
    for (size_t i = 0; i < resources_.size(); ++i)
      if (is_managed(i))
        TRY(add(i).context(cat("resource `", resources_[i].item->id, "`")));
    if (std::vector<Resource> needed = engine_.resources(); !needed.empty()) {
      std::vector<Resource>& shared = intent_->resources[intent_set({})];
      shared.insert(shared.end(), std::make_move_iterator(needed.begin()),
                    std::make_move_iterator(needed.end()));
    }
    made_.intent = std::move(intent_);
    return std::move(made_);
  }

 private:
  struct Place {
    ResourceId id;
    Key key;
  };

  bool is_managed(size_t i) const {
    return resources_[i].item->attributes.bool_at("managed", true);
  }

  Status read_ids() {
    places_.reserve(resources_.size());
    for (size_t i = 0; i < resources_.size(); ++i) {
      const Item& item = *resources_[i].item;
      Place place{TRY(parse_resource_id(item.id)), {}};
      place.key = {options_.environment, kind_of(place.id.type), name_of(item, place.id)};
      if (is_managed(i)) {
        const auto [other, added] = by_key_.emplace(place.key, i);
        if (!added)
          return user_error(cat("`", item.id, "` and `", resources_[other->second].item->id,
                                "` are both `", to_string(place.key), "`"));
        by_id_.emplace(item.id, i);
      }
      places_.push_back(std::move(place));
    }
    return {};
  }

  /// A type for which nothing can act here keeps its name, which is no kind.
  Name kind_of(const std::string& type) const {
    if (options_.handlers.find(type) != nullptr)
      return handled_kind().name();
    const DeployedType* deployed = find_deployed_type(type);
    return deployed == nullptr ? Name(type) : deployed->kind->name();
  }

  /// A container is found by its own name.
  Name name_of(const Item& item, const ResourceId& id) const {
    const bool is_container = options_.handlers.find(id.type) == nullptr &&
                              find_deployed_type(id.type) != nullptr &&
                              find_deployed_type(id.type)->kind == &service_kind();
    const std::string_view name = item.attributes.text_at("name");
    return is_container && !name.empty() ? Name(name) : item.id;
  }

  void find_agents() {
    for (size_t i = 0; i < resources_.size(); ++i)
      if (places_[i].id.type == agent_config) {
        const Value& fields = resources_[i].item->attributes;
        if (!fields.bool_at("purged"))
          agents_[std::string(fields.text_at("agentname", places_[i].id.value))] =
              fields.text_at("uri");
      }
    for (const auto& [agent, uri] : options_.agents)
      agents_[agent] = uri;
  }

  void speak_for_sets(const Known& known) {
    const Leftover leftover = options_.prune ? Leftover::remove : Leftover::keep;
    intent_->sets[intent_set({})] = leftover;
    for (const WantedResource& wanted : resources_)
      intent_->sets[intent_set(wanted.set)] = leftover;
    for (const auto& [key, record] : known)
      for (const auto& [set, wish] : record->wanted_by)
        if (set.view().starts_with(set_prefix))
          intent_->sets[set] = leftover;
  }

  Status add(size_t i) {
    const Item& item = *resources_[i].item;
    const Place& place = places_[i];
    Resource resource;
    resource.key = place.key;
    resource.origin = item.origin;
    if (item.attributes.bool_at("purge_on_delete"))
      resource.leftover = Leftover::remove;
    const Value* const references = item.attributes.find("references");
    const bool has_references =
        references != nullptr && references->is_list() && !references->items().empty();
    // The fields of an undefined resource mean nothing yet.
    if (item.is_undefined || item.attributes.has_unknown())
      resource.attributes =
          Value::dict({{"fields", item.attributes}, {"undefined", Value::unknown()}});
    else if (has_references && !is_in_python(place.id.type))
      leave_out(item, resource);
    else
      TRY(describe(item, place.id, resource));
    add_needs(item, resource);
    intent_->resources[intent_set(resources_[i].set)].push_back(std::move(resource));
    made_.keys.emplace_back(item.id, place.key);
    return {};
  }

  /// Nobody can act on it without the values that its references stand for.
  void leave_out(const Item& item, Resource& resource) {
    resource.attributes = Value::dict({{"fields", item.attributes}});
    resource.mandate = Mandate::none;
    made_.notes[item.id] = "its fields have references, which fettle exports but does not resolve";
  }

  /// A handler in Python resolves references itself.
  bool is_in_python(const std::string& type) const {
    const Value* const handler = options_.handlers.find(type);
    return handler != nullptr && handler->find("interpreter") != nullptr;
  }

  /// One agent calls one handler at a time, and handlers in Python rely on it.
  void wait_turn(const ResourceId& id, Resource& resource) {
    resource.pool = cat("agent:", id.agent);
    intent_->pools[resource.pool] = 1;
  }

  static std::span<const Value> items_of(const Value& list) {
    return list.is_list() ? list.items() : std::span<const Value>();
  }

  static Value with_id(const Item& item) {
    std::vector<Entry> fields(item.attributes.entries().begin(), item.attributes.entries().end());
    fields.push_back({"id", item.id});
    return Value::dict(std::move(fields));
  }

  /// The handler with those contents that a field names, or an argument of a reference.
  Value with_files(const Value& handler, const Value& fields) const {
    std::vector<Entry> found;
    const auto add = [&](const Value& name) {
      if (const Value* digest = name.is_text() ? options_.files.find(name.text().view()) : nullptr)
        found.push_back({name.text(), *digest});
    };
    if (options_.files.is_dict()) {
      for (const Entry& field : fields.entries())
        add(field.value);
      for (const Value& reference : items_of(fields.at("references")))
        for (const Value& argument : items_of(reference.at("args")))
          add(argument.at("value"));
    }
    if (found.empty())
      return handler;
    std::vector<Entry> entries(handler.entries().begin(), handler.entries().end());
    entries.push_back({"files", Value::dict(std::move(found))});
    return Value::dict(std::move(entries));
  }

  Status describe(const Item& item, const ResourceId& id, Resource& resource) {
    const Value& fields = item.attributes;
    const bool reports = fields.bool_at("report_only");
    if (const Value* handler = options_.handlers.find(id.type)) {
      resource.driver = "handler";
      const bool in_python = is_in_python(id.type);
      if (in_python)
        wait_turn(id, resource);
      resource.attributes = TRY(handled_kind().normalise(
          Value::dict({{"type", id.type},
                       {"fields", in_python ? with_id(item) : fields},
                       {"handler", in_python ? with_files(*handler, fields) : *handler},
                       {"purged", fields.bool_at("purged")},
                       {"report_only", reports}})));
      find_mandate(item, id, false, resource);
      return {};
    }
    const DeployedType* type = find_deployed_type(id.type);
    if (type == nullptr) {
      resource.attributes = fields;
      made_.notes[item.id] = cat("there is no handler for `", id.type, "`");
      return {};
    }
    resource.driver = type->driver;
    resource.attributes = TRY(type->kind->normalise(TRY(type->attributes(fields))));
    if (type->needs_agent)
      find_mandate(item, id, reports, resource);
    else if (reports)
      resource.mandate = Mandate::report;
    if (type->kind == &service_kind() && resource.mandate == Mandate::act &&
        !fields.bool_at("purged")) {
      const Name image = read_one<&Service::image>(resource.attributes).get();
      engine_.add(resource, image, image);
    }
    return {};
  }

  void find_mandate(const Item& item, const ResourceId& id, bool reports, Resource& resource) {
    const auto found = agents_.find(id.agent);
    if (found != agents_.end() && found->second == this_machine) {
      resource.mandate = reports ? Mandate::report : Mandate::act;
      return;
    }
    const bool is_at_agent = found != agents_.end() &&
                             found->second.starts_with(machine_of_agent) &&
                             (resource.driver == "host" || resource.driver == "handler");
    // What a model says of itself gives nobody a machine.
    if (is_at_agent && options_.agents.contains(id.agent)) {
      resource.driver = driver_on(resource.driver, found->second.substr(machine_of_agent.size()));
      resource.mandate = reports ? Mandate::report : Mandate::act;
      return;
    }
    resource.mandate = Mandate::none;
    made_.notes[item.id] =
        found == agents_.end()
            ? cat("the location of agent `", id.agent, "` is unknown; use `--agent ", id.agent,
                  "=local:` if it is this machine")
        : is_at_agent ? cat("the resources of agent `", id.agent, "` are at `", found->second,
                            "`; `--agent ", id.agent, "=", found->second, "` acts there")
                      : cat("the resources of agent `", id.agent, "` are at `", found->second,
                            "`, which cannot be reached from here");
  }

  void add_needs(const Item& item, Resource& resource) {
    const bool receives = item.attributes.bool_at("receive_events", true);
    for (const Name& need : item.needs) {
      const auto found = by_id_.find(need);
      if (found == by_id_.end())
        continue;
      const bool sends = resources_[found->second].item->attributes.bool_at("send_event");
      resource.needs.push_back({{places_[found->second].key},
                                false,
                                When::succeeded,
                                Unmet::fail,
                                receives && sends ? Bond::refresh : Bond::order});
    }
  }

  std::span<const WantedResource> resources_;
  const ApplyOptions& options_;
  std::shared_ptr<Intent> intent_;
  ModelIntent made_;
  std::vector<Place> places_;
  std::map<Key, size_t> by_key_;
  std::unordered_map<Name, size_t> by_id_;
  std::map<std::string, std::string> agents_;
  EngineNeeds engine_{options_.environment};
};

}  // namespace

Name intent_set(const Name& set) { return cat(set_prefix, set); }

bool is_of_model(const Record& record) {
  for (const auto& [set, wish] : record.wanted_by)
    if (set.view().starts_with(set_prefix))
      return true;
  return false;
}

Result<ModelIntent> intent_of_version(std::span<const WantedResource> resources, const Known& known,
                                      const ApplyOptions& options) {
  return Mapper(resources, options).map(known);
}

}  // namespace fettle::model
