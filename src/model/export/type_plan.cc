#include "model/export/type_plan.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "value/json.h"

namespace fettle::model {
namespace {

Error wrong_field(const Entity& entity, const Declaration& declaration, const std::string& name) {
  return user_error(cat("the entity ", entity.full_name, " has no attribute `", name,
                        "`, which its resource type needs",
                        declaration.file.empty() ? "" : cat(" (", declaration.file, ")")));
}

}  // namespace

Result<const TypePlan*> TypePlans::of(const Entity& entity) {
  const auto known = plans_.find(&entity);
  if (known != plans_.end())
    return &known->second;
  return &plans_.emplace(&entity, TRY(make(entity))).first->second;
}

/// The declaration of the entity itself, else of the nearest ancestor that has one.
const Declaration* TypePlans::declaration_of(const Entity& entity) const {
  for (const Entity* ancestor : entity.lineage)
    if (const auto found = declarations_.find(ancestor->full_name); found != declarations_.end())
      return &found->second;
  return nullptr;
}

Result<TypePlan> TypePlans::make(const Entity& entity) const {
  TypePlan plan;
  plan.declaration = declaration_of(entity);
  plan.needs_slot = slot_of(entity, "requires");
  if (plan.needs_slot != no_slot && entity.slots[plan.needs_slot]->shape != Shape::list)
    plan.needs_slot = no_slot;  // a value of that name hides the relation
  if (plan.declaration == nullptr)
    return plan;
  plan.managed_slot = is_a(entity, "std::ManagedResource") ? slot_of(entity, "managed") : no_slot;
  const Declaration& declaration = *plan.declaration;
  if (const auto get = declaration.get.find(declaration.id_attribute); get != declaration.get.end())
    plan.id_get = &get->second;
  else
    plan.id_slot = slot_of(entity, declaration.id_attribute);
  if (plan.id_get == nullptr && plan.id_slot == no_slot)
    return wrong_field(entity, declaration, declaration.id_attribute);
  if (!declaration.agent.empty() && declaration.agent.find('.') == std::string::npos)
    plan.agent_slot = slot_of(entity, declaration.agent);
  TRY(add_fields(entity, plan));
  for (uint32_t i = 0; i < plan.fields.size(); ++i) {
    append_json_text(plan.keys.emplace_back(), plan.fields[i].name);
    plan.keys.back() += ':';
    plan.by_name.push_back(i);
  }
  std::sort(plan.by_name.begin(), plan.by_name.end(),
            [&](uint32_t a, uint32_t b) { return plan.fields[a].name < plan.fields[b].name; });
  return plan;
}

Status TypePlans::add_fields(const Entity& entity, TypePlan& plan) const {
  std::set<std::string> added;
  const auto add = [&](const std::string& name, const Declaration* from) -> Status {
    if (!added.insert(name).second)
      return {};
    FieldPlan field;
    field.name = fettle::Name(name);
    if (from != nullptr)
      if (const auto get = from->get.find(name); get != from->get.end())
        field.get = &get->second;
    field.slot = slot_of(entity, name);
    if (field.get == nullptr && field.slot == no_slot)
      return wrong_field(entity, *plan.declaration, name);
    plan.fields.push_back(std::move(field));
    return {};
  };
  static_assert(references_at == 0 && mutators_at == 1);
  for (const char* name : {"references", "mutators"}) {
    plan.fields.push_back({fettle::Name(name), no_slot, nullptr, Value::list({}), true});
    added.insert(name);
  }
  for (const char* name : {"send_event", "receive_events", "report_only"})
    if (slot_of(entity, name) != no_slot)
      TRY(add(name, nullptr));
  if (is_a(entity, "std::PurgeableResource"))
    for (const char* name : {"purged", "purge_on_delete"})
      TRY(add(name, nullptr));
  if (is_a(entity, "std::ManagedResource"))
    TRY(add("managed", nullptr));
  // The base comes first; a nearer declaration says how a field is read.
  for (auto ancestor = entity.lineage.rbegin(); ancestor != entity.lineage.rend(); ++ancestor)
    if (const auto found = declarations_.find((*ancestor)->full_name); found != declarations_.end())
      for (const std::string& name : found->second.fields)
        TRY(add(name, reader_of(entity, name)));
  return {};
}

/// The nearest declaration that has a function for the field; else any that lists it.
const Declaration* TypePlans::reader_of(const Entity& entity, const std::string& field) const {
  for (const Entity* ancestor : entity.lineage)
    if (const auto found = declarations_.find(ancestor->full_name); found != declarations_.end())
      if (found->second.get.contains(field))
        return &found->second;
  return nullptr;
}

uint32_t TypePlans::slot_of(const Entity& entity, std::string_view name) const {
  for (uint32_t slot = 0; slot < entity.slots.size(); ++slot)
    if (model_.program.symbols.name(entity.slots[slot]->name) == name)
      return slot;
  return no_slot;
}

bool TypePlans::is_a(const Entity& entity, std::string_view name) const {
  const Entity* other = model_.entity(name);
  return other != nullptr && entity.is_a(other);
}

}  // namespace fettle::model
