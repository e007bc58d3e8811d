#include "model/declare/declarer.h"

#include <algorithm>

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"
#include "model/program/type_check.h"

namespace fettle::model {

Error Program::error_at(Place at, std::string message) const {
  const SourceFile& file = files[at.file];
  Error error = user_error(std::move(message),
                           {file.name, static_cast<int>(at.line), static_cast<int>(at.column)});
  error.excerpt = excerpt(file.text, static_cast<int>(at.line), static_cast<int>(at.column));
  return error;
}

Space* Program::space(std::string_view name) {
  for (Space& space : spaces)
    if (space.name == name)
      return &space;
  return nullptr;
}

Space* Program::imported(const Space& from, std::string_view name) {
  if (name == from.name || name == "std")
    return space(name);
  const auto found = from.imports.find(std::string(name));
  return found == from.imports.end() ? nullptr : space(found->second);
}

Space* Program::enclosing(const Space& from) {
  const size_t end = from.name.rfind("::");
  return end == std::string::npos ? nullptr : space(std::string_view(from.name).substr(0, end));
}

Entity* Program::find_entity(const Space& from, const QualifiedName& name) {
  const bool is_plain = name.space.empty();
  for (Space* where = is_plain ? space(from.name) : imported(from, name.space); where != nullptr;
       where = is_plain ? enclosing(*where) : nullptr)
    if (const auto found = where->entities.find(name.name); found != where->entities.end())
      return found->second;
  return nullptr;
}

std::string Program::not_found(const Space& from, const QualifiedName& name) {
  const std::string what = cat("could not find type ", text(name), " in namespace ");
  if (name.space.empty())
    return cat(what, from.name);
  if (const Space* target = imported(from, name.space))
    return cat(what, target->name);
  return cat(what, from.name, ".\nTry importing the module with `import ", name.space, "` in ",
             files[name.at.file].name);
}

std::string Program::text(const QualifiedName& name) const {
  return name.space.empty() ? symbols.name(name.name)
                            : cat(name.space, "::", symbols.name(name.name));
}

bool Declarer::fail(Place at, std::string message, Importance importance, std::string reported) {
  Failure made{program_.error_at(at, ""), importance};
  made.reasons.push_back({std::move(message), std::move(reported)});
  failures_.push_back(std::move(made));
  return false;
}

namespace {
Place exact(Place at) {
  at.is_exact = 1;
  return at;
}
}  // namespace

bool Declarer::duplicate(const std::string& what, Place original, Place again) {
  return fail(original,
              cat(what, " (original at (", program_.location(exact(original)), ")) (duplicate at (",
                  program_.location(exact(again)), "))"),
              Importance::duplicate);
}

/// `reporter` is the definition, `Entity(A)`. Empty: the original names only the place.
bool Declarer::type_not_found(const Space& space, const QualifiedName& name, std::string reporter) {
  const std::string where = program_.location(exact(name.at));
  const std::string message = program_.not_found(space, name);
  if (reporter.empty())
    fail(name.at, cat(message, " (", where, ")"), Importance::not_found);
  else
    fail(name.at, message, Importance::not_found, cat(reporter, " (", where, ")"));
  failures_.back().meant = meant_type(program_, space, name);
  return false;
}

Entity* Declarer::entity_of(Space& space, const QualifiedName& name, std::string reporter) {
  Entity* found = program_.find_entity(space, name);
  if (found == nullptr)
    type_not_found(space, name, std::move(reporter));
  return found;
}

std::vector<Failure> Declarer::run() {
  const auto all = [&](auto definitions, auto declare_one) {
    for (Space& space : program_.spaces)
      for (const auto* definition : space.unit.*definitions)
        if (!(this->*declare_one)(space, *definition))
          return false;
    return true;
  };
  const auto every = [&](auto declare_one) {
    for (Space& space : program_.spaces)
      if (!(this->*declare_one)(space))
        return false;
    return true;
  };
  if (!every(&Declarer::imports) || !every(&Declarer::names) || !every(&Declarer::typedefs) ||
      !every(&Declarer::typedef_chains) || !every(&Declarer::parents))
    return std::move(failures_);
  std::vector<Entity*> below;
  for (Entity& entity : program_.entities)
    if (!lineage(entity, below))
      return std::move(failures_);
  if (!all(&Unit::implementations, &Declarer::implementation) ||
      !all(&Unit::relations, &Declarer::relation))
    return std::move(failures_);
  for (Entity& entity : program_.entities)
    slots(entity);
  if (!all(&Unit::indexes, &Declarer::index) || !all(&Unit::implements, &Declarer::implement))
    return std::move(failures_);
  for (Entity& entity : program_.entities)
    if (!check_defaults(entity))
      return std::move(failures_);
  for (Entity& entity : program_.entities)
    select(entity);
  for (Entity& entity : program_.entities)
    if (!dataclass(entity))
      break;
  return std::move(failures_);
}

bool Declarer::imports(Space& space) {
  for (const ImportDefinition* import : space.unit.imports) {
    const std::string module(import->module);
    if (program_.space(module) == nullptr)
      return fail(import->at, cat("could not find module ", module), Importance::other);
    space.imports[import->has_alias ? program_.symbols.name(import->alias) : module] = module;
  }
  return true;
}

bool Declarer::names(Space& space) {
  return entity_names(space) && implementation_names(space) && typedef_names(space);
}

bool Declarer::entity_names(Space& space) {
  for (const EntityDefinition* definition : space.unit.entities) {
    Entity& entity = program_.entities.emplace_back();
    entity.name = definition->name;
    entity.full_name = cat(space.name, "::", program_.symbols.name(definition->name));
    entity.space = &space;
    entity.definition = definition;
    entity.id = static_cast<uint32_t>(program_.entities.size());
    const auto [known, is_new] = space.entities.emplace(definition->name, &entity);
    if (!is_new)
      return duplicate(cat("Entity ", entity.full_name, " is already defined"), definition->at,
                       known->second->definition->at);
  }
  if (space.name == "std")
    program_.root = space.entities[program_.symbols.intern("Entity")];
  return true;
}

bool Declarer::implementation_names(Space& space) {
  for (const ImplementationDefinition* definition : space.unit.implementations) {
    Implementation& made = program_.implementations.emplace_back();
    made.name = definition->name;
    made.definition = definition;
    const auto [known, is_new] = space.implementations.emplace(definition->name, &made);
    if (!is_new)
      return duplicate(
          cat("Implementation ", space.name, "::", program_.symbols.name(definition->name),
              " for type ", program_.text(definition->entity), " is already defined"),
          definition->at, known->second->definition->at);
  }
  return true;
}

bool Declarer::typedef_names(Space& space) {
  for (const TypedefDefinition* definition : space.unit.typedefs) {
    Typedef& made = program_.typedefs.emplace_back();
    made.condition = definition->condition;
    made.full_name = cat(space.name, "::", program_.symbols.name(definition->name));
    made.at = exact(definition->at);
    const auto [known, is_new] = space.typedefs.emplace(definition->name, &made);
    if (!is_new)
      return duplicate(cat("TypeConstraint ", made.full_name, " is already defined"),
                       definition->at, known->second->at);
  }
  return true;
}

bool Declarer::find_type(Space& space, const QualifiedName& name, Type& type,
                         std::string reporter) {
  static const std::unordered_map<std::string_view, Base> primitives{
      {"string", Base::string}, {"int", Base::integer},   {"float", Base::floating},
      {"bool", Base::boolean},  {"number", Base::number}, {"list", Base::list},
      {"dict", Base::dict}};
  type.name = program_.text(name);
  const bool is_plain = name.space.empty();
  if (is_plain)
    if (const auto found = primitives.find(program_.symbols.name(name.name));
        found != primitives.end()) {
      type.base = found->second;
      return true;
    }
  for (Space* from = is_plain ? &space : program_.imported(space, name.space); from != nullptr;
       from = is_plain ? program_.enclosing(*from) : nullptr)
    if (const auto found = from->typedefs.find(name.name); found != from->typedefs.end()) {
      type.base = Base::constrained;
      type.constraint = found->second;
      type.name = found->second->full_name;
      return true;
    }
  return type_not_found(space, name, std::move(reporter));
}

namespace {
bool mentions_self(const Expr* expr, Symbol self) {
  const auto in_arguments = [&](std::span<const Argument> arguments) {
    return std::ranges::any_of(
        arguments, [&](const Argument& argument) { return mentions_self(argument.value, self); });
  };
  switch (expr->kind) {
    case ExprKind::regex:
      return true;
    case ExprKind::name:
      return as<Name>(expr).name.space.empty() && as<Name>(expr).name.name == self;
    case ExprKind::attribute:
      return mentions_self(as<AttributeRef>(expr).object, self);
    case ExprKind::call:
      return in_arguments(as<Call>(expr).arguments);
    case ExprKind::constructor:
      return in_arguments(as<Constructor>(expr).arguments);
    case ExprKind::list:
      return std::ranges::any_of(as<ListExpr>(expr).items,
                                 [&](const Expr* item) { return mentions_self(item, self); });
    case ExprKind::dict:
      return std::ranges::any_of(as<DictExpr>(expr).items, [&](const DictItem& item) {
        return mentions_self(item.value, self);
      });
    case ExprKind::binary:
      return mentions_self(as<Binary>(expr).left, self) ||
             mentions_self(as<Binary>(expr).right, self);
    case ExprKind::negation:
      return mentions_self(as<Negation>(expr).operand, self);
    case ExprKind::conditional:
      return mentions_self(as<Conditional>(expr).condition, self) ||
             mentions_self(as<Conditional>(expr).yes, self) ||
             mentions_self(as<Conditional>(expr).no, self);
    case ExprKind::map_lookup:
      return mentions_self(as<MapLookup>(expr).object, self) ||
             mentions_self(as<MapLookup>(expr).key, self);
    case ExprKind::is_defined:
      return mentions_self(as<IsDefined>(expr).operand, self);
    default:
      return false;
  }
}
}  // namespace

bool Declarer::typedefs(Space& space) {
  const Symbol self = program_.symbols.intern("self");
  for (const TypedefDefinition* definition : space.unit.typedefs) {
    if (!mentions_self(definition->condition, self))
      return fail(definition->at, "typedef expressions should reference the self variable",
                  Importance::typing,
                  cat("Type(", program_.symbols.name(definition->name), ") (",
                      program_.location(exact(definition->at)), ")"));
    if (!find_type(space, definition->base, space.typedefs[definition->name]->base, ""))
      return false;
  }
  return true;
}

/// Checks that chains of typedefs have no circle and are not too long: a value is matched with each
/// typedef of its chain.
bool Declarer::typedef_chains(Space& space) {
  for (const TypedefDefinition* definition : space.unit.typedefs) {
    const Typedef* const first = space.typedefs[definition->name];
    int length = 0;
    for (const Typedef* base = first->base.constraint; base != nullptr;
         base = base->base.constraint)
      if (base == first || ++length > max_depth)
        return fail(definition->at,
                    base == first ? "a typedef can not be built on itself"
                                  : "typedefs are built on one another too deeply",
                    Importance::typing,
                    cat("Type(", program_.symbols.name(definition->name), ") (",
                        program_.location(exact(definition->at)), ")"));
  }
  return true;
}

bool Declarer::parents(Space& space) {
  for (const EntityDefinition* definition : space.unit.entities) {
    Entity& entity = *space.entities[definition->name];
    const std::string reporter = cat("Entity(", program_.symbols.name(entity.name), ")");
    for (const QualifiedName& name : definition->parents) {
      Entity* parent = entity_of(space, name, reporter);
      if (parent == nullptr)
        return false;
      if (std::ranges::find(entity.parents, parent) != entity.parents.end())
        return fail(name.at, "same parent defined twice", Importance::typing,
                    cat(reporter, " (", program_.location(definition->at), ")"));
      entity.parents.push_back(parent);
    }
    if (entity.parents.empty() && &entity != program_.root)
      entity.parents.push_back(program_.root);
    for (Entity* parent : entity.parents)
      parent->children.push_back(&entity);
  }
  return true;
}

/// Parents come first, then the attributes of the entity itself.
bool Declarer::lineage(Entity& entity, std::vector<Entity*>& below) {
  if (entity.is_linked)
    return true;
  const std::string reporter = cat("Entity(", program_.symbols.name(entity.name), ") (",
                                   program_.location(entity.definition->at), ")");
  if (below.size() > max_depth)
    return fail(entity.definition->at, "the inheritance of entities is nested too deeply",
                Importance::typing, reporter);
  if (const auto found = std::ranges::find(below, &entity); found != below.end()) {
    std::string chain;
    for (auto one = below.rbegin(); one != below.rend(); ++one) {
      chain += cat(chain.empty() ? "" : ",", (*one)->full_name);
      if (*one == &entity)
        break;
    }
    const Entity& last = *below.back();
    return fail(last.definition->at, cat("Entity can not be its own parent ", chain),
                Importance::typing,
                cat("Entity(", program_.symbols.name(last.name), ") (",
                    program_.location(last.definition->at), ")"));
  }
  below.push_back(&entity);
  for (Entity* parent : entity.parents)
    if (!lineage(*parent, below))
      return false;
  below.pop_back();
  for (const Entity* parent : entity.parents)
    entity.depth = std::max(entity.depth, parent->depth + 1);
  if (entity.depth > max_depth)
    return fail(entity.definition->at, "the inheritance of entities is nested too deeply",
                Importance::typing, reporter);
  for (auto parent = entity.parents.rbegin(); parent != entity.parents.rend(); ++parent)
    for (auto one = (*parent)->lineage.rbegin(); one != (*parent)->lineage.rend(); ++one)
      if (!entity.is_a(*one))
        entity.lineage.push_back(*one);
  entity.lineage.push_back(&entity);
  std::ranges::reverse(entity.lineage);
  entity.is_linked = true;
  return attributes(entity);
}

bool Declarer::attributes(Entity& entity) {
  const std::string reporter = cat("Entity(", program_.symbols.name(entity.name), ")");
  for (const AttributeDefinition& definition : entity.definition->attributes) {
    Attribute made;
    made.name = definition.name;
    made.owner = &entity;
    made.at = definition.at;
    if (!find_type(*entity.space, definition.type.name, made.type, reporter))
      return false;
    made.type.is_list = definition.type.is_list;
    made.type.is_nullable = definition.type.is_nullable;
    if (made.type.is_list)
      made.type.name += "[]";
    entity.own.push_back(made);
    const auto [other, is_new] = entity.own_by_name.emplace(made.name, &entity.own.back());
    if (!is_new)
      return duplicate(cat("attribute '", program_.symbols.name(made.name),
                           "' already exists on entity '", program_.symbols.name(entity.name), "'"),
                       other->second->at, made.at);
  }
  return compatible(entity);
}

bool Declarer::check_defaults(const Entity& entity) {
  for (const AttributeDefinition& definition : entity.definition->attributes)
    if (const auto found = entity.own_by_name.find(definition.name);
        found != entity.own_by_name.end() && !check_default(definition, *found->second))
      return false;
  return true;
}

bool Declarer::check_default(const AttributeDefinition& definition, const Attribute& attribute) {
  if (definition.initial == nullptr)
    return true;
  const std::string reported =
      cat(describe(program_, definition), " (", program_.location(exact(definition.at)), ")");
  Datum value;
  const Expr* wrong = nullptr;
  if (!fold_constant(program_, definition.initial, value, wrong))
    return fail(definition.initial->at, cat(describe(program_, wrong), " is not a constant"),
                Importance::typing, reported);
  // A constraint that calls a plugin is checked when the value is used.
  if (attribute.type.constraint != nullptr)
    return true;
  Reason why;
  if (!is_of(program_, attribute.type, value, why))
    return fail(definition.initial->at, why.message, Importance::typing, reported);
  return true;
}

/// An attribute that several ancestors have must have the same type in all of them.
bool Declarer::compatible(Entity& entity) {
  std::unordered_map<Symbol, const Attribute*> first;
  for (const Entity* one : entity.lineage)
    for (const Attribute& attribute : one->own) {
      const auto [known, is_new] = first.emplace(attribute.name, &attribute);
      const Type& a = known->second->type;
      const Type& b = attribute.type;
      if (!is_new && attribute.target == nullptr && known->second->target == nullptr &&
          (a.name != b.name || a.is_nullable != b.is_nullable))
        return duplicate("Incompatible attributes", known->second->at, attribute.at);
    }
  return true;
}

void Declarer::slots(Entity& entity) {
  size_t count = 0;
  for (const Entity* one : entity.lineage)
    count += one->own.size();
  constexpr uint64_t of_a_slot = 64;
  if (!program_.budget->spend(count) || !program_.budget->take(count * of_a_slot))
    return;
  entity.slot_of.reserve(count);
  for (Entity* one : entity.lineage)
    for (Attribute& attribute : one->own) {
      if (entity.slot_of.find(attribute.name) != no_slot)
        continue;
      entity.slot_of.add(attribute.name, static_cast<uint32_t>(entity.slots.size()));
      entity.slots.push_back(&attribute);
    }
  entity.defaults.resize(entity.slots.size());
  // The first declaration in the lineage decides, even if it has no default.
  std::vector<bool> is_decided(entity.slots.size());
  for (const Entity* one : entity.lineage)
    for (const AttributeDefinition& definition : one->definition->attributes) {
      const uint32_t slot = entity.slot_of.find(definition.name);
      if (slot == no_slot || is_decided[slot] || entity.slots[slot]->shape != Shape::value)
        continue;
      is_decided[slot] = true;
      const Expr* ignored = nullptr;
      if (definition.initial != nullptr)
        fold_constant(program_, definition.initial, entity.defaults[slot], ignored);
    }
}

std::vector<Failure> declare(Program& program) { return Declarer(program).run(); }

}  // namespace fettle::model
