/// Declares what links entities: relations, indexes, and the implementations that they use.

#include <algorithm>

#include "base/text.h"
#include "model/declare/declarer.h"

namespace fettle::model {
namespace {

Shape shape_of(Multiplicity count) {
  if (count.upper == 1)
    return count.lower == 1 ? Shape::one : Shape::option;
  return Shape::list;
}

Attribute end_of(Symbol name, Entity& owner, Entity& target, Multiplicity count, Place at) {
  Attribute made;
  made.name = name;
  made.owner = &owner;
  made.shape = shape_of(count);
  made.target = &target;
  made.count = count;
  made.at = at;
  return made;
}

}  // namespace

bool Declarer::relation_end(Entity& entity, const Attribute& made, Attribute*& end) {
  const std::string& name = program_.symbols.name(made.name);
  for (Entity* one : entity.lineage) {
    const auto other = one->own_by_name.find(made.name);
    if (other == one->own_by_name.end() || entity.full_name == "std::Entity")
      continue;
    if (one != &entity)
      return duplicate(cat("Attribute name ", name, " is already defined in ",
                           program_.symbols.name(one->name), ", unable to define relationship"),
                       made.at, other->second->at);
    return duplicate(cat("attribute '", name, "' already exists on entity '",
                         program_.symbols.name(entity.name), "'"),
                     other->second->at, made.at);
  }
  // An entity that extends this one would have two attributes of that name, too. A value of its own
  // hides a relation.
  std::vector<Entity*> below = entity.children;
  while (!below.empty() && program_.budget->spend(1)) {
    Entity* const one = below.back();
    below.pop_back();
    if (const auto other = one->own_by_name.find(made.name);
        other != one->own_by_name.end() && other->second->shape != Shape::value)
      return duplicate(cat("Attribute name ", name, " is already defined in ",
                           program_.symbols.name(one->name), ", unable to define relationship"),
                       made.at, other->second->at);
    below.insert(below.end(), one->children.begin(), one->children.end());
  }
  entity.own.push_back(made);
  end = &entity.own.back();
  entity.own_by_name.emplace(made.name, end);
  return true;
}

bool Declarer::relation(Space& space, const RelationDefinition& definition) {
  Entity* left = entity_of(space, definition.left, "");
  if (left == nullptr)
    return false;
  Entity* right = entity_of(space, definition.right, "");
  if (right == nullptr)
    return false;
  Attribute* one = nullptr;
  if (!relation_end(
          *left,
          end_of(definition.left_name, *left, *right, definition.left_count, definition.left_at),
          one))
    return false;
  if (!definition.has_inverse)
    return true;
  if (left == right && definition.left_name == definition.right_name) {
    one->inverse = one;
    return true;
  }
  Attribute* other = nullptr;
  if (!relation_end(
          *right,
          end_of(definition.right_name, *right, *left, definition.right_count, definition.right_at),
          other))
    return false;
  one->inverse = other;
  other->inverse = one;
  return true;
}

bool Declarer::implementation(Space& space, const ImplementationDefinition& definition) {
  return entity_of(space, definition.entity,
                   cat("Implementation(", program_.symbols.name(definition.name), ")")) != nullptr;
}

bool Declarer::index(Space& space, const IndexDefinition& definition) {
  Entity* entity = entity_of(space, definition.entity, "");
  if (entity == nullptr)
    return false;
  std::string names;
  for (const Symbol name : definition.attributes)
    names += cat(names.empty() ? "" : ", ", program_.symbols.name(name));
  const std::string reported = cat("index ", program_.text(definition.entity), "(", names, ") (",
                                   program_.location(definition.at), ")");
  Index& made = program_.indexes.emplace_back();
  made.entity = entity;
  made.at = definition.at;
  made.names.assign(definition.attributes.begin(), definition.attributes.end());
  std::ranges::sort(made.names, {},
                    [&](Symbol name) -> const std::string& { return program_.symbols.name(name); });
  for (size_t i = 0; i < definition.attributes.size(); ++i) {
    const uint32_t slot = entity->slot(definition.attributes[i]);
    const std::string& name = program_.symbols.name(definition.attributes[i]);
    if (slot == no_slot)
      return fail(definition.places[i],
                  cat("Attribute '", name, "' referenced in index is not defined in entity ",
                      entity->full_name),
                  Importance::typing, reported);
    const Attribute& attribute = *entity->slots[slot];
    const std::string shown = cat("' ", name, ".", entity->full_name, "'");
    if (attribute.shape >= Shape::option)
      return fail(definition.places[i],
                  cat("Index can not contain optional relations, Relation ", shown, " is optional"),
                  Importance::typing, reported);
    if (attribute.type.is_list)
      return fail(definition.places[i],
                  cat("Index can not contain list attributes, Attribute ", shown, " is a list"),
                  Importance::typing, reported);
  }
  for (Entity& other : program_.entities) {
    if (!other.is_a(entity))
      continue;
    other.indexes.push_back(&made);
    for (const Symbol name : made.names) {
      const uint32_t slot = other.slot(name);
      other.slots[slot]->is_in_index = true;
      if (std::ranges::find(other.key_slots, slot) == other.key_slots.end())
        other.key_slots.push_back(slot);
    }
  }
  return true;
}

bool Declarer::select_implementation(Space& space, Entity& entity, const QualifiedName& name,
                                     const ImplementDefinition& definition, Implement& made) {
  const std::string reporter = cat("Implement(", program_.text(definition.entity), ")");
  Implementation* found = nullptr;
  const bool is_plain = name.space.empty();
  Space* from = is_plain ? &space : program_.imported(space, name.space);
  for (; from != nullptr; from = is_plain ? program_.enclosing(*from) : nullptr)
    if (const auto known = from->implementations.find(name.name);
        known != from->implementations.end()) {
      found = known->second;
      break;
    }
  if (found == nullptr)
    return type_not_found(space, name, reporter);
  found->entity = program_.find_entity(*from, found->definition->entity);
  if (!entity.is_a(found->entity))
    return fail(name.at,
                cat("Type mismatch: cannot use ", program_.symbols.name(name.name),
                    " as implementation for  ", entity.full_name,
                    " because its implementing type is ", found->entity->full_name),
                Importance::typing, cat(reporter, " (", program_.location(definition.at), ")"));
  made.implementations.push_back(found);
  return true;
}

bool Declarer::implement(Space& space, const ImplementDefinition& definition) {
  Entity* entity =
      entity_of(space, definition.entity, cat("Implement(", program_.text(definition.entity), ")"));
  if (entity == nullptr)
    return false;
  Implement made;
  made.condition = definition.condition;
  made.at = definition.entity.at;
  made.at.is_exact = 1;
  // The original warns of a condition on `parents`, and includes them all the same.
  entity->uses_parents |= definition.uses_parents;
  for (const QualifiedName& name : definition.implementations)
    if (!select_implementation(space, *entity, name, definition, made))
      return false;
  entity->implements.push_back(std::move(made));
  return true;
}

/// Collects the statements of an entity and, if one says `parents`, those of its direct parents.
void Declarer::select(Entity& entity) {
  if (entity.is_selected)
    return;
  entity.is_selected = true;
  for (const Implement& implement : entity.implements)
    if (!implement.implementations.empty())
      entity.selected.push_back(&implement);
  if (!entity.uses_parents)
    return;
  for (Entity* parent : entity.parents) {
    select(*parent);
    entity.selected.insert(entity.selected.end(), parent->selected.begin(), parent->selected.end());
  }
}

/// An entity that extends `std::Dataclass` has attributes and nothing else.
bool Declarer::dataclass(Entity& entity) {
  const auto is_data = [](const Entity* one) { return one->full_name == "std::Dataclass"; };
  if (is_data(&entity) || std::ranges::none_of(entity.lineage, is_data))
    return true;
  Place at = entity.definition->at;
  at.is_exact = 1;
  const std::string subject =
      cat("The dataclass ", entity.full_name, " defined at ", program_.location(at), " has ");
  const auto refuse = [&](const std::string& what) {
    return fail(at, cat(subject, what), Importance::dataclass,
                cat(entity.full_name, " (", program_.location(at), ")"));
  };
  for (const Attribute& attribute : entity.own) {
    Place place = attribute.at;
    place.is_exact = 1;
    if (attribute.target != nullptr)
      return refuse(cat("a relation called ", program_.symbols.name(attribute.name), " defined at ",
                        program_.location(place),
                        ". Dataclasses are not allowed to have relations."));
  }
  for (const Index* index : entity.indexes)
    if (index->entity == &entity)
      return refuse(cat("an indexes defined at ", program_.location(index->at),
                        ". Dataclasses can not have any indexes."));
  for (const Implement& implement : entity.implements)
    for (const Implementation* implementation : implement.implementations)
      if (implementation->entity != program_.root ||
          program_.symbols.name(implementation->name) != "none")
        return refuse(cat("an implementation other than 'std::none', defined at ",
                          program_.location(implement.at),
                          ". Dataclasses can only have std::none as implemenation."));
  return true;
}

}  // namespace fettle::model
