#include "model/export/exporter.h"

#include <algorithm>
#include <set>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/export/guidelines.h"
#include "model/export/python_export.h"
#include "model/export/references.h"
#include "model/export/resource_id.h"
#include "model/export/resource_json.h"
#include "model/export/type_plan.h"
#include "model/program/text_form.h"
#include "value/json.h"

namespace fettle::model {
namespace {

constexpr uint32_t no_item = UINT32_MAX;

class Exporter {
 public:
  Exporter(const Model& model, const Declarations& declarations, bool for_version)
      : model_(model),
        declarations_(declarations),
        for_version_(for_version),
        ownership_(model, for_version),
        identities_(model, ownership_),
        plans_(model, declarations),
        python_(model, declarations,
                [this](const Instance& instance) { return id_text(instance); }),
        references_(model, [this](const Instance& instance) { return id_text(instance); }) {}

  Result<ExportResult> run() {
    item_of_.assign(model_.instances().size(), no_item);
    resource_ = model_.entity("std::Resource");
    TRY(python_.make_all());
    for (const Instance* instance : model_.instances())
      TRY(export_instance(*instance));
    TRY(check_duplicates());
    read_needs();
    TRY(manage_needs());
    TRY(assign_sets());
    TRY(check_python());
    warn_of_undeclared();
    warn_of_misspelled();
    if (for_version_) {
      describe_contributions();
      TRY(add_handlers());
    }
    exported_.files = std::move(python_.files);
    return std::move(exported_);
  }

 private:
  Status export_instance(const Instance& instance) {
    const TypePlan& plan = *TRY(plans_.of(*instance.entity));
    if (!python_.types_of(*instance.entity).empty()) {
      for (PythonMade& made : python_.made_of(instance))
        add_made(instance, made);
      return {};
    }
    if (plan.declaration == nullptr) {
      without_declaration_.insert(instance.entity);
      if (resource_ != nullptr && instance.entity->is_a(resource_))
        ++exported_.undeclared[instance.entity->full_name];
      return {};
    }
    Result<std::optional<Item>> made = make_item(instance, plan);
    if (!made)
      return Error(made.error())
          .context(
              cat("exporting the ", instance.entity->full_name, " of ", model_.where(instance.at)));
    if (!*made)
      return {};
    add_item(instance, std::move(**made));
    if (for_version_ && !plan.declaration->handler.empty())
      handlers_.emplace(plan.declaration->entity, plan.declaration);
    return {};
  }

  void add_item(const Instance& instance, Item item) {
    item_of_[instance.number] = static_cast<uint32_t>(exported_.items.size());
    exported_.items.push_back(std::move(item));
    instances_.push_back(&instance);
  }

  /// A resource that Python made.
  void add_made(const Instance& instance, PythonMade& made) {
    if (made.fate != PythonMade::Fate::made)
      return;
    Item item;
    item.id = made.id;
    for (const Entry& field : made.fields)
      if (field.value.is_unknown()) {
        exported_.unknowns.push_back({item.id, field.key, "fact", false});
        item.is_undefined = true;
      }
    if (for_version_) {
      item.attributes = Value::dict(std::move(made.fields));
      item.origin = identities_.origin(instance.at);
    } else {
      append_fields(exported_.bodies, made.fields);
      exported_.body_ends.push_back(exported_.bodies.size());
    }
    add_item(instance, std::move(item));
  }

  /// The id of its resource. False: it is unknown. `given`: what a function returned.
  Result<bool> read_id(const Instance& instance, const TypePlan& plan, ResourceId& id,
                       std::optional<FieldAnswer>& given_id) const {
    id.type = plan.declaration->entity;
    id.attribute = plan.declaration->id_attribute;
    std::optional<std::string> agent = TRY(agent_of(instance, plan));
    if (agent && plan.id_get != nullptr)
      given_id = TRY((*plan.id_get)(model_, instance));
    std::optional<std::string> value = given_id ? TRY(text_of_given(*given_id, "id"))
                                       : agent  ? TRY(id_value_of(instance, plan))
                                                : std::nullopt;
    if (!value)
      return false;
    id.agent = std::move(*agent);
    id.value = std::move(*value);
    TRY(check_resource_id(id));
    return true;
  }

  /// The id of a resource to which a reference refers.
  Result<std::string> id_text(const Instance& instance) {
    const TypePlan& plan = *TRY(plans_.of(*instance.entity));
    for (const PythonMade& made : python_.made_of(instance))
      if (made.fate == PythonMade::Fate::made)
        return made.id.str();
    ResourceId id;
    std::optional<FieldAnswer> given;
    if (plan.declaration == nullptr)
      return user_error(cat("no resource type is declared for ", instance.entity->full_name,
                            ", from which a reference needs a fact"));
    if (!TRY(read_id(instance, plan, id, given)))
      return user_error(cat("the id of the ", instance.entity->full_name, " of ",
                            model_.where(instance.at),
                            ", from which a reference needs a fact, is unknown"));
    return to_string(id);
  }

  /// None: the resource is left out.
  Result<std::optional<Item>> make_item(const Instance& instance, const TypePlan& plan) {
    if (plan.managed_slot != no_slot) {
      const Datum& managed = instance.cells[plan.managed_slot].value;
      if (managed.tag == Tag::boolean && !managed.boolean)
        return std::optional<Item>();
    }
    std::optional<FieldAnswer> given_id;
    if (!TRY(read_id(instance, plan, id_, given_id)))
      return std::optional<Item>();
    Item item;
    item.id = fettle::Name(to_string(id_));
    std::vector<Entry>& entries = entries_;
    entries.clear();
    for (const FieldPlan& field : plan.fields) {
      FieldAnswer given =
          given_id && field.get == plan.id_get ? *given_id : TRY(read_field(instance, field));
      if (given.type == FieldAnswer::Type::ignored)
        return std::optional<Item>();
      const bool is_unknown = given.type == FieldAnswer::Type::unknown || given.value.has_unknown();
      if (is_unknown)
        exported_.unknowns.push_back({item.id, field.name, "fact", false});
      item.is_undefined |= is_unknown;
      entries.push_back({field.name, given.type == FieldAnswer::Type::unknown
                                         ? Value::unknown()
                                         : std::move(given.value)});
    }
    if (!references_.empty()) {
      entries[references_at].value = references_.references();
      entries[mutators_at].value = references_.mutators(item.id);
      references_.clear();
    }
    if (for_version_) {
      item.attributes = Value::dict(entries);
      item.origin = identities_.origin(instance.at);
    } else {
      append_body(plan);
    }
    return std::optional(std::move(item));
  }

  /// The attributes as JSON, without the braces.
  void append_body(const TypePlan& plan) {
    std::string& json = exported_.bodies;
    bool is_first = true;
    for (const uint32_t i : plan.by_name) {
      if (!std::exchange(is_first, false))
        json += ',';
      json += plan.keys[i];
      append_json(json, without_unknowns(entries_[i].value));
    }
    exported_.body_ends.push_back(json.size());
  }

  Result<std::optional<std::string>> agent_of(const Instance& instance,
                                              const TypePlan& plan) const {
    const Declaration& declaration = *plan.declaration;
    if (declaration.agent_function)
      return text_of_given(TRY(declaration.agent_function(model_, instance)), "agent");
    const Datum* found = plan.agent_slot != no_slot
                             ? &instance.cells[plan.agent_slot].value
                             : follow_path(model_, instance, declaration.agent);
    if (found != nullptr && found->tag == Tag::unknown)
      return std::optional<std::string>();
    if (found == nullptr || found->tag != Tag::text)
      return user_error(
          cat("the path `", declaration.agent, "` to the agent does not end in a string"));
    return std::optional(std::string(found->view()));
  }

  Result<std::optional<std::string>> id_value_of(const Instance& instance,
                                                 const TypePlan& plan) const {
    const Datum& value = instance.cells[plan.id_slot].value;
    if (value.tag == Tag::unknown)
      return std::optional<std::string>();
    if (value.tag == Tag::instance || value.tag == Tag::reference || !value.is_set())
      return user_error(cat("`", plan.declaration->id_attribute, "` is not a value for an id"));
    return std::optional(text_of(model_.program, value));
  }

  static Result<std::optional<std::string>> text_of_given(const FieldAnswer& given,
                                                          std::string_view what) {
    if (given.type != FieldAnswer::Type::value || given.value.has_unknown())
      return std::optional<std::string>();
    if (given.value.is_list() || given.value.is_dict() || given.value.is_null())
      return user_error(cat("the function for the ", what, " gave ", write_json(given.value),
                            ", which is not a string"));
    return std::optional(to_text(given.value));
  }

  Result<FieldAnswer> read_field(const Instance& instance, const FieldPlan& field) {
    if (field.is_constant)
      return FieldAnswer{FieldAnswer::Type::value, field.constant};
    if (field.get != nullptr)
      return (*field.get)(model_, instance);
    const Datum& datum = instance.cells[field.slot].value;
    Result<Value> value =
        has_reference(datum) ? references_.take(datum, field.name.str()) : attribute_value(datum);
    if (!value)
      return std::move(value).error().context(cat("reading the field `", field.name, "`"));
    return FieldAnswer{FieldAnswer::Type::value, std::move(*value)};
  }

  Status check_duplicates() const {
    const std::vector<Item>& items = exported_.items;
    const auto hash = [&](uint32_t i) { return items[i].id.hash(); };
    const auto equal = [&](uint32_t a, uint32_t b) { return items[a].id == items[b].id; };
    boost::unordered_flat_set<uint32_t, decltype(hash), decltype(equal)> seen(items.size(), hash,
                                                                              equal);
    for (uint32_t i = 0; i < items.size(); ++i)
      if (const auto [before, inserted] = seen.insert(i); !inserted)
        return user_error(cat(
            "Resource ", items[i].id, " exists more than once in the configuration model (",
            model_.where(instances_[*before]->at), " and ", model_.where(instances_[i]->at), ")"));
    return {};
  }

  /// Keeps those needs of an instance that became resources.
  void read_needs() {
    for (uint32_t i = 0; i < exported_.items.size(); ++i) {
      const Instance& instance = *instances_[i];
      const uint32_t slot = plans_.known(*instance.entity).needs_slot;
      if (slot == no_slot || item_of_[instance.number] != i)
        continue;  // of two types of an instance, the last one counts
      Item& item = exported_.items[i];
      const std::span<const Datum> wanted = model_.members(instance, slot);
      for (const Datum& need : wanted)
        if (const uint32_t other = item_at(need); other != no_item)
          item.needs.push_back(exported_.items[other].id);
      if (!wanted.empty() && item.needs.empty())
        warn(cat("The resource ", item.id,
                 " had requirements before flattening, but not after flattening. Perhaps provides "
                 "relation is not wired through correctly?"));
      std::sort(item.needs.begin(), item.needs.end());
      item.needs.erase(std::unique(item.needs.begin(), item.needs.end()), item.needs.end());
    }
  }

  /// What managers of dependencies made of the needs.
  Status manage_needs() {
    if (!python_.has_managers())
      return {};
    std::vector<PythonNeeds> given;
    for (uint32_t i = 0; i < exported_.items.size(); ++i)
      given.push_back({instances_[i], &exported_.items[i]});
    managed_ = TRY(python_.managed(given));
    for (Item& item : exported_.items)
      if (const auto found = managed_.find(item.id.view()); found != managed_.end()) {
        item.needs = found->second;
        std::ranges::sort(item.needs);
      }
    return {};
  }

  Status add_handlers() {
    for (auto& handler : TRY(python_.handlers()))
      exported_.handlers.push_back(std::move(handler));
    return {};
  }

  uint32_t item_at(const Datum& datum) const {
    return datum.tag == Tag::instance ? item_of_[datum.instance->number] : no_item;
  }

  void warn(std::string text) {
    constexpr size_t most = 100;
    if (exported_.warnings.size() < most)
      exported_.warnings.push_back(std::move(text));
  }

  Status assign_sets() {
    for (uint32_t i = 0; i < exported_.items.size(); ++i) {
      const SetNumber set = ownership_.member_of(*instances_[i]);
      if (set == 0)
        continue;
      if (const SetNumber second = ownership_.also_member_of(*instances_[i]); second != 0)
        return user_error(cat("resource '", exported_.items[i].id,
                              "' can not be part of multiple ResourceSets: ", ownership_.name(set),
                              " (", model_.where(ownership_.instance(set).at), ") and ",
                              ownership_.name(second), " (",
                              model_.where(ownership_.instance(second).at), ")"));
      if (for_version_)
        exported_.sets.emplace_back(exported_.items[i].id, ownership_.name(set));
    }
    std::map<std::string, std::pair<size_t, fettle::Name>> strangers;
    for (SetNumber set = 1; set < ownership_.set_count(); ++set) {
      size_t members = 0, lost = 0;
      for (const Datum& member : model_.members(ownership_.instance(set), "resources")) {
        ++members;
        if (item_at(member) == no_item && member.tag == Tag::instance) {
          ++lost;
          auto& [count, example] = strangers[member.instance->entity->full_name];
          ++count;
          example = ownership_.name(set);
        }
      }
      if (members == 0)
        exported_.emptied.push_back(ownership_.name(set));
      else if (members == lost)
        exported_.hollow.emplace_back(ownership_.name(set),
                                      model_.where(ownership_.instance(set).at));
    }
    for (const auto& [type, found] : strangers)
      warn(cat(found.first, found.first == 1 ? " resource" : " resources", " of type ", type,
               " in ResourceSets (`", found.second,
               "`) will not be exported: no resource type is declared for it, or it is ignored"));
    return {};
  }

  /// A declaration may be about an entity that this model does not load.
  void warn_of_misspelled() {
    std::vector<std::string_view> entities;
    for (const Entity& entity : model_.program.entities)
      entities.push_back(entity.full_name);
    for (const auto& [name, declaration] : declarations_)
      if (!declaration.file.empty() && model_.entity(name) == nullptr)
        if (const std::string_view meant = nearest(name, entities); !meant.empty())
          warn(cat(declaration.file, ": there is no entity `", name, "`; did you mean `", meant,
                   "`?"));
  }

  /// An error if a resource is left out that is declared in Python and could not be made.
  Status check_python() const {
    for (const Entity* entity : without_declaration_)
      if (const std::string problem = python_.problem_of(*entity); !problem.empty())
        return user_error(
            cat("the resources of type ", entity->full_name, " cannot be exported: ", problem));
    return {};
  }

  void warn_of_undeclared() {
    for (const auto& [type, count] : exported_.undeclared)
      warn(cat("no resource type is declared for ", type, ": ", count,
               count == 1 ? " instance is" : " instances are", " not exported"));
  }

  void describe_contributions() {
    for (uint32_t i = 0; i < exported_.items.size(); ++i)
      if (ownership_.member_of(*instances_[i]) == 0)
        share(exported_.items[i], *instances_[i]);
    exported_.claims = claims_of(model_, ownership_, identities_);
    exported_.findings = findings_of(model_, ownership_, identities_, [this](const auto& inspect) {
      for (uint32_t i = 0; i < exported_.items.size(); ++i)
        if (ownership_.member_of(*instances_[i]) != 0)
          inspect(owned_resource(exported_.items[i], *instances_[i]));
    });
    for (const auto& [type, declaration] : handlers_) {
      std::vector<Entry> handler{{"name", declaration->handler}, {"file", declaration->file}};
      if (!declaration->deadline.empty())
        handler.push_back({"deadline", declaration->deadline});
      exported_.handlers.emplace_back(fettle::Name(type), Value::dict(std::move(handler)));
    }
  }

  OwnedResource owned_resource(const Item& item, const Instance& instance) const {
    const TypePlan& plan = plans_.known(*instance.entity);
    OwnedResource made{&instance, item.id, {}, {}};
    if (plan.id_slot != no_slot)
      made.value.source = {&instance, plan.id_slot};
    if (plan.declaration != nullptr && !plan.declaration->agent_function)
      made.agent.source = end_of_path(model_, instance, plan.declaration->agent);
    if (const auto id = split_resource_id(item.id)) {
      made.agent.text = id->agent;
      made.value.text = id->value;
    }
    return made;
  }

  /// Notes who contributes a shared resource, and which of its needs.
  void share(const Item& item, const Instance& instance) {
    std::map<SetNumber, std::vector<fettle::Name>> needs;
    for (const SetNumber set : ownership_.contributors(instance))
      needs[set];
    const uint32_t slot = plans_.known(*instance.entity).needs_slot;
    const auto add = [&](const Datum& member, Contributor by) {
      if (const uint32_t other = item_at(member); other != no_item)
        for (const SetNumber set : ownership_.contributors(by))
          needs[set].push_back(exported_.items[other].id);
    };
    if (slot != no_slot) {
      for (const Datum& member : model_.members(instance, slot))
        add(member, member.by);
      for (const Repetition& again : repetitions_of(instance))
        if (again.slot == slot)
          add(again.value, again.by);
    }
    // Nobody in particular lets a manager add a need.
    if (const auto managed = managed_.find(item.id.view()); managed != managed_.end())
      for (auto& [set, ids] : needs)
        ids = managed->second;
    for (auto& [set, ids] : needs)
      exported_.shares.push_back({item.id, ownership_.name(set), std::move(ids)});
  }

  std::vector<Repetition> repetitions_of(const Instance& instance) {
    if (repetitions_.empty())
      for (const Repetition& again : model_.repetitions())
        repetitions_.emplace(again.owner->number, again);
    std::vector<Repetition> found;
    const auto [begin, end] = repetitions_.equal_range(instance.number);
    for (auto at = begin; at != end; ++at)
      found.push_back(at->second);
    return found;
  }

  const Model& model_;
  const Declarations& declarations_;
  bool for_version_;
  Ownership ownership_;
  Identities identities_;
  const Entity* resource_ = nullptr;
  TypePlans plans_;
  std::vector<uint32_t> item_of_;                                 ///< by number of instance
  std::vector<const Instance*> instances_;                        ///< by item
  boost::unordered_flat_set<const Entity*> without_declaration_;  ///< of instances
  std::map<std::string, std::vector<fettle::Name>, std::less<>> managed_;  ///< needs, by id
  std::map<std::string, const Declaration*> handlers_;
  std::unordered_multimap<uint32_t, Repetition> repetitions_;
  PythonExport python_;
  References references_;       ///< of the instance under way
  ResourceId id_;               ///< as well
  std::vector<Entry> entries_;  ///< as well
  ExportResult exported_;
};

}  // namespace

Result<ExportResult> export_model(const Model& model, const Declarations& declarations,
                                  bool for_version) {
  return Exporter(model, declarations, for_version).run();
}

}  // namespace fettle::model
