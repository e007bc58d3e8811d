/// Resolves names: variables of blocks, attributes of `self`, variables of namespaces.

#include "model/resolve/walk.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

Variables Walk::variables(const Block& block, const For* loop) {
  Variables found;
  std::vector<Symbol> names;
  const auto add = [&](Symbol name, Place at) {
    const auto [known, is_new] = found.try_emplace(name);
    if (is_new) {
      known->second.slot = static_cast<uint32_t>(names.size());
      names.push_back(name);
    }
    known->second.places.push_back(at);
    return known->second.slot;
  };
  if (loop != nullptr)
    add(loop->variable, loop->at);
  for (const Stmt* statement : block.statements)
    if (statement->kind == StmtKind::assign && as<Assign>(statement).name.space.empty())
      as<Assign>(statement).slot = add(as<Assign>(statement).name.name, statement->at);
  block.locals = program_.arena.copy(std::span<const Symbol>(names));
  return found;
}

const Variable* Walk::around(const Level& level, Symbol name) const {
  for (const Level* outer = level.parent; outer != nullptr; outer = outer->parent)
    if (const auto found = outer->variables.find(name); found != outer->variables.end())
      return &found->second;
  const auto global = space_.variables.find(name);
  return global == space_.variables.end() ? nullptr : &global->second;
}

void Walk::warn_of_shadows(const Level& level, const Block& block) const {
  const auto text = [&](const std::vector<Place>& places) {
    std::vector<std::string> made;
    for (const Place at : places)
      made.push_back(program_.location(at));
    return join(made, ",");
  };
  for (const Symbol name : block.locals) {
    const std::vector<Place>& here = level.variables.at(name).places;
    if (const Variable* const hidden = around(level, name))
      warn_(program_.error_at(
          here.front(),
          cat("Variable `", program_.symbols.name(name), "` shadowed: originally declared at ",
              text(hidden->places), ", shadowed at ", text(here))));
  }
}

void Walk::visible(const Call& node, const Level* level) {
  std::vector<Symbol> symbols;
  for (const Level* at = level; at != nullptr; at = at->parent)
    for (const auto& [symbol, variable] : at->variables)
      symbols.push_back(symbol);
  if (entity_ != nullptr) {
    symbols.push_back(self_);
    for (const Attribute* attribute : entity_->slots)
      symbols.push_back(attribute->name);
    is_of_child(self_);  // to know them
    symbols.insert(symbols.end(), of_children_->begin(), of_children_->end());
  }
  const auto& globals = space_.unit.body->locals;
  symbols.insert(symbols.end(), globals.begin(), globals.end());
  std::vector<const Name*> names;
  for (const Symbol symbol : symbols) {
    Name made;
    made.kind = ExprKind::name;
    made.at = node.at;
    made.name.name = symbol;
    name(made, level);
    names.push_back(program_.arena.make<Name>(made));
  }
  node.visible = program_.arena.copy(std::span<const Name* const>(names));
}

void Walk::comprehension(const Comprehension& node, const Level* level, const Attribute* to) {
  expression(node.iterable, level);
  const Level inner{level, {{node.variable, Variable()}}};
  if (node.guard != nullptr)
    expression(node.guard, &inner);
  expression(node.value, &inner, to);
}

void Walk::name(const Name& node, const Level* level) {
  const Symbol symbol = node.name.name;
  if (!node.name.space.empty() && !standing_.is_in_type) {
    Space* from = program_.imported(space_, node.name.space);
    node.found = from == nullptr ? NameKind::no_space : NameKind::missing;
    if (from != nullptr)
      global(node, *from);
    return;
  }
  uint32_t depth = 0;
  for (; level != nullptr; level = level->parent, ++depth)
    if (const auto found = level->variables.find(symbol); found != level->variables.end()) {
      node.found = NameKind::local;
      node.depth = depth;
      node.slot = found->second.slot;
      return;
    }
  node.found = standing_.is_in_type ? NameKind::in_type : NameKind::missing;
  if (standing_.is_in_type)
    return;
  if (entity_ != nullptr && symbol == self_)
    node.found = NameKind::self_value;
  else if (entity_ != nullptr && entity_->slot(symbol) != no_slot)
    node.found = NameKind::self_attribute;
  else {
    global(node, space_);
    if (entity_ != nullptr && is_of_child(symbol)) {
      node.is_global_otherwise = node.found == NameKind::global;
      node.found = NameKind::child_attribute;
    }
  }
}

bool Walk::is_of_child(Symbol name) {
  if (!of_children_) {
    of_children_.emplace();
    std::vector<const Entity*> below(entity_->children.begin(), entity_->children.end());
    std::unordered_set<const Entity*> seen;
    while (!below.empty() && program_.budget->spend(1)) {
      const Entity* const one = below.back();
      below.pop_back();
      if (!seen.insert(one).second)
        continue;
      for (const Attribute& attribute : one->own)
        if (entity_->slot(attribute.name) == no_slot)
          of_children_->insert(attribute.name);
      below.insert(below.end(), one->children.begin(), one->children.end());
    }
  }
  return of_children_->contains(name);
}

void Walk::global(const Name& node, const Space& from) {
  const auto found = from.variables.find(node.name.name);
  if (found == from.variables.end())
    return;
  node.found = NameKind::global;
  node.depth = from.id;
  node.slot = found->second.slot;
}

void Walk::foreign(const Assign& node) {
  const QualifiedName& target = node.name;
  const Space* to = program_.imported(space_, target.space);
  if (to == nullptr)
    return fail(target.at,
                cat("Namespace ", target.space, " not found.\nTry importing it with `import ",
                    target.space, "`"),
                reported_in(program_, static_cast<const Stmt*>(&node)), Importance::not_found);
  const auto found = to->variables.find(target.name);
  if (found == to->variables.end()) {
    fail(target.at, cat("variable ", program_.symbols.name(target.name), " not found"),
         reported_in(program_, static_cast<const Stmt*>(&node)), Importance::not_found);
    failures_.back().meant = meant_variable(program_, target);
    return;
  }
  node.space = to->id;
  node.slot = found->second.slot;
}

void Walk::annotation(const RelationDefinition& definition, const Expr* annotation) {
  if (!failures_.empty() || annotation->kind != ExprKind::name)
    return;
  const auto& name = as<Name>(annotation);
  if (name.found == NameKind::no_space)
    return fail(annotation->at, no_space_text(name), reported_in(program_, annotation),
                Importance::not_found);
  if (name.found != NameKind::missing)
    return;
  fail(annotation->at, cat("variable ", program_.text(name.name), " not found"),
       cat(standing_.reporter, " (", program_.location(definition.left_at), ")"),
       Importance::not_found);
  failures_.back().meant = meant_variable(program_, name.name);
}

}  // namespace fettle::model
