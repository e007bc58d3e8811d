/// Resolves constructors: finds their entities, and errors in their arguments before anything runs.

#include "model/resolve/walk.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

const Attribute some_attribute;

void Walk::constructor(const Constructor& node, const Level* level, const Attribute* to) {
  node.entity = program_.find_entity(space_, node.type);
  const Entity* const hint = to == nullptr ? nullptr : to->target;
  if (node.entity == nullptr && node.type.space.empty() && hint != nullptr && !guess(node, *hint))
    return;
  if (node.entity == nullptr)
    return not_found(node.type);
  complete(node, to);
  if (!failures_.empty())
    return;
  for (const Argument& argument : node.arguments) {
    const uint32_t slot = argument.is_unpacked ? no_slot : node.entity->slot(argument.name);
    const Attribute* attribute = slot == no_slot ? nullptr : node.entity->slots[slot];
    const bool is_late = attribute != nullptr && !attribute->is_in_index;
    if (is_late)
      assignable(argument.value, *attribute);
    expression(argument.value, level, attribute);
    if (is_late && failures_.empty() && node.missing.name == nullptr)
      node.missing = missing_in(argument.value, attribute->shape == Shape::list);
  }
}

bool Walk::guess(const Constructor& node, const Entity& hint) {
  std::vector<std::string> names;
  for (Entity& entity : program_.entities)
    if (entity.name == node.type.name && entity.is_a(&hint)) {
      node.entity = &entity;
      names.push_back(entity.full_name);
    }
  if (names.size() <= 1)
    return true;
  std::ranges::sort(names);
  fail_in_statement(
      node.type.at,
      cat("Could not determine namespace for type ", program_.text(node.type), ". ", names.size(),
          " possible candidates exists: [", join(names, ", "),
          "]. To resolve this, use the fully qualified name instead of the short name."),
      Importance::not_found);
  return false;
}

void Walk::assignable(const Expr* value, const Attribute& attribute) {
  if (!failures_.empty())
    return;
  if (value->kind == ExprKind::list)
    for (const Expr* item : as<ListExpr>(value).items)
      assignable(item, attribute);
  if (value->kind == ExprKind::conditional) {
    assignable(as<Conditional>(value).yes, attribute);
    assignable(as<Conditional>(value).no, attribute);
  }
  if (value->kind == ExprKind::comprehension)
    assignable(as<Comprehension>(value).value, attribute);
  if (value->kind != ExprKind::constructor)
    return;
  const Entity* given = program_.find_entity(space_, as<Constructor>(value).type);
  if (given == nullptr || (attribute.target != nullptr && given->is_a(attribute.target)))
    return;
  fail(value->at,
       cat("Can not assign a value of type ",
           attribute.target != nullptr ? given->full_name : program_.symbols.name(given->name),
           " to a variable of type ",
           attribute.target != nullptr ? attribute.target->full_name : attribute.type.name),
       reported_in(program_, value), Importance::typing);
}

std::vector<uint32_t> Walk::missing_slots(const Constructor& node, const Attribute* to) {
  std::vector<uint32_t> missing;
  for (const uint32_t slot : node.entity->key_slots) {
    const Symbol name = node.entity->slots[slot]->name;
    const bool is_given = std::ranges::any_of(node.arguments, [&](const Argument& argument) {
      return argument.is_unpacked || argument.name == name;
    });
    if (!is_given && !node.entity->defaults[slot].is_set())
      missing.push_back(slot);
  }
  const bool lacks_inverse = std::ranges::any_of(missing, [&](uint32_t slot) {
    return to != nullptr && node.entity->slots[slot] == to->inverse;
  });
  // A relation that is part of an index and has no inverse implies no key.
  const bool implies_nothing =
      to != nullptr && to != &some_attribute && to->is_in_index && to->inverse == nullptr;
  const bool is_later =
      to == &some_attribute || (to != nullptr && !lacks_inverse && !implies_nothing);
  const bool is_implied = missing.size() == 1 && lacks_inverse && !to->is_in_index;
  return is_later || is_implied ? std::vector<uint32_t>() : missing;
}

void Walk::complete(const Constructor& node, const Attribute* to) {
  for (const Index* index : node.entity->indexes)
    if (const auto twice = std::ranges::adjacent_find(index->names); twice != index->names.end())
      return fail(
          node.at,
          cat("Attribute ", program_.symbols.name(*twice), " provided twice in index lookup"),
          reported_in(program_, static_cast<const Expr*>(&node)), Importance::typing);
  if (const std::vector<uint32_t> missing = missing_slots(node, to); !missing.empty()) {
    fail(node.at, missing_keys(program_, *node.entity, missing),
         reported_in(program_, static_cast<const Expr*>(&node)), Importance::typing);
    // It may be there under a name that is nearly right.
    for (const Argument& argument : node.arguments)
      if (!argument.is_unpacked && node.entity->slot(argument.name) == no_slot)
        failures_.back().meant =
            meant_attribute(program_, *node.entity, program_.symbols.name(argument.name));
    return;
  }
  for (const Argument& argument : node.arguments) {
    if (argument.is_unpacked || node.entity->slot(argument.name) != no_slot)
      continue;
    Place at = argument.at;
    at.is_exact = 1;
    const std::string& name = program_.symbols.name(argument.name);
    fail(at, cat("no attribute ", name, " on type ", node.entity->full_name),
         cat(name, " (", program_.location(at), ")"), Importance::typing);
    failures_.back().meant = meant_attribute(program_, *node.entity, name);
    return;
  }
}

}  // namespace fettle::model
