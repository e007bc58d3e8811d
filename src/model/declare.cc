#include <algorithm>

#include "base/text.h"
#include "model/program.h"
#include "model/text_form.h"

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

Entity* Program::find_entity(const Space& from, const QualifiedName& name) {
  Space* where = name.space.empty() ? space(from.name) : imported(from, name.space);
  if (where == nullptr)
    return nullptr;
  const auto found = where->entities.find(name.name);
  return found == where->entities.end() ? nullptr : found->second;
}

std::string Program::text(const QualifiedName& name) const {
  return name.space.empty() ? symbols.name(name.name)
                            : cat(name.space, "::", symbols.name(name.name));
}

namespace {

class Declarer {
 public:
  Declarer(Program& program) : program_(program) {}

  std::vector<Failure> run() {
    for (Space& space : program_.spaces)
      names(space);
    for (Space& space : program_.spaces)
      typedefs(space);
    for (Space& space : program_.spaces)
      parents(space);
    for (Entity& entity : program_.entities)
      lineage(entity, {});
    if (!failures_.empty())
      return std::move(failures_);
    for (Space& space : program_.spaces)
      attributes(space);
    for (Space& space : program_.spaces)
      for (const RelationDefinition* relation : space.unit.relations)
        declare_relation(space, *relation);
    for (Entity& entity : program_.entities)
      slots(entity);
    for (Entity& entity : program_.entities)
      defaults(entity);
    for (Space& space : program_.spaces)
      for (const IndexDefinition* index : space.unit.indexes)
        declare_index(space, *index);
    for (Space& space : program_.spaces)
      for (const ImplementDefinition* implement : space.unit.implements)
        declare_implement(space, *implement);
    for (Entity& entity : program_.entities)
      select(entity);
    return std::move(failures_);
  }

 private:
  void fail(Place at, std::string message, int rank) {
    failures_.push_back({program_.error_at(at, std::move(message)), rank});
  }
  std::string where(Place at) const {
    return cat(program_.files[at.file].name, ":", at.line, ":", at.column);
  }
  void duplicate(const std::string& what, Place original, Place again) {
    fail(again,
         cat(what, " (original at (", where(original), ")) (duplicate at (", where(again), "))"),
         40);
  }
  void type_not_found(const Space& space, const QualifiedName& name,
                      std::string_view what = "type") {
    std::string message =
        cat("could not find ", what, " ", program_.text(name), " in namespace ", space.name);
    if (!name.space.empty() && program_.imported(space, name.space) == nullptr &&
        program_.space(name.space) != nullptr)
      message += cat("\nTry importing the module with `import ", name.space, "`");
    fail(name.at, message, 20);
  }
  Entity* entity_of(Space& space, const QualifiedName& name) {
    Entity* found = program_.find_entity(space, name);
    if (found == nullptr)
      type_not_found(space, name);
    return found;
  }

  void names(Space& space) {
    for (const ImportDefinition* import : space.unit.imports) {
      const std::string module(import->module);
      if (program_.space(module) == nullptr)
        fail(import->at, cat("could not find module ", module), 100);
      space.imports[import->has_alias ? program_.symbols.name(import->alias) : module] = module;
    }
    for (const EntityDefinition* definition : space.unit.entities) {
      Entity& entity = program_.entities.emplace_back();
      entity.name = definition->name;
      entity.full_name = cat(space.name, "::", program_.symbols.name(definition->name));
      entity.space = &space;
      entity.definition = definition;
      entity.id = static_cast<uint32_t>(program_.entities.size());
      const auto [at, is_new] = space.entities.emplace(definition->name, &entity);
      if (!is_new)
        duplicate(cat("Entity ", entity.full_name, " is already defined"),
                  at->second->definition->at, definition->at);
    }
    if (space.name == "std")
      program_.root = space.entities[program_.symbols.intern("Entity")];
    for (const ImplementationDefinition* definition : space.unit.implementations) {
      Implementation& made = program_.implementations.emplace_back();
      made.name = definition->name;
      made.definition = definition;
      const auto [at, is_new] = space.implementations.emplace(definition->name, &made);
      if (!is_new)
        duplicate(cat("Implementation ", program_.symbols.name(definition->name), " for type ",
                      program_.text(definition->entity), " is already defined"),
                  at->second->definition->at, definition->at);
    }
    std::unordered_map<Symbol, Place> seen;
    for (const TypedefDefinition* definition : space.unit.typedefs) {
      Typedef& made = program_.typedefs.emplace_back();
      made.condition = definition->condition;
      space.typedefs.emplace(definition->name, &made);
      const auto [at, is_new] = seen.emplace(definition->name, definition->at);
      if (!is_new)
        duplicate(cat("TypeConstraint ", space.name, "::", program_.symbols.name(definition->name),
                      " is already defined"),
                  at->second, definition->at);
    }
  }

  bool find_type(Space& space, const QualifiedName& name, Type& type) {
    static const std::unordered_map<std::string_view, Base> primitives{
        {"string", Base::string}, {"int", Base::integer},   {"float", Base::floating},
        {"bool", Base::boolean},  {"number", Base::number}, {"list", Base::list},
        {"dict", Base::dict},     {"any", Base::any}};
    type.name = program_.text(name);
    if (name.space.empty())
      if (const auto found = primitives.find(program_.symbols.name(name.name));
          found != primitives.end()) {
        type.base = found->second;
        return true;
      }
    Space* from = name.space.empty() ? &space : program_.imported(space, name.space);
    if (from != nullptr)
      if (const auto found = from->typedefs.find(name.name); found != from->typedefs.end()) {
        type.base = Base::constrained;
        type.constraint = found->second;
        type.name = cat(from->name, "::", program_.symbols.name(name.name));
        return true;
      }
    type_not_found(space, name);
    return false;
  }

  void typedefs(Space& space) {
    for (const TypedefDefinition* definition : space.unit.typedefs)
      find_type(space, definition->base, space.typedefs[definition->name]->base);
  }

  void parents(Space& space) {
    for (const EntityDefinition* definition : space.unit.entities) {
      Entity& entity = *space.entities[definition->name];
      if (entity.definition != definition)
        continue;
      for (const QualifiedName& name : definition->parents)
        if (Entity* parent = entity_of(space, name)) {
          if (std::find(entity.parents.begin(), entity.parents.end(), parent) !=
              entity.parents.end())
            fail(name.at, cat("same parent defined twice: ", parent->full_name), 10);
          entity.parents.push_back(parent);
        }
      if (entity.parents.empty() && &entity != program_.root)
        entity.parents.push_back(program_.root);
    }
  }

  void lineage(Entity& entity, std::vector<Entity*> below) {
    if (entity.is_linked || !failures_.empty())
      return;
    if (below.size() > max_depth)
      return fail(entity.definition->at, "the inheritance of entities is nested too deeply", 10);
    if (std::find(below.begin(), below.end(), &entity) != below.end()) {
      std::string chain;
      for (const Entity* one : below)
        chain += cat(one->full_name, ",");
      fail(entity.definition->at, cat("Entity can not be its own parent ", chain, entity.full_name),
           10);
      entity.is_linked = true;
      return;
    }
    below.push_back(&entity);
    entity.lineage.push_back(&entity);
    for (Entity* parent : entity.parents) {
      lineage(*parent, below);
      for (Entity* ancestor : parent->lineage)
        if (!entity.is_a(ancestor))
          entity.lineage.push_back(ancestor);
    }
    entity.is_linked = true;
  }

  void attributes(Space& space) {
    for (const auto& [name, entity] : space.entities)
      for (const AttributeDefinition& definition : entity->definition->attributes) {
        Attribute made;
        made.name = definition.name;
        made.owner = entity;
        made.at = definition.at;
        if (!find_type(space, definition.type.name, made.type))
          continue;
        made.type.is_list = definition.type.is_list;
        made.type.is_nullable = definition.type.is_nullable;
        if (made.type.is_list)
          made.type.name += "[]";
        if (made.type.is_nullable)
          made.type.name += "?";
        for (const Attribute& other : entity->own)
          if (other.name == made.name)
            duplicate(cat("attribute ", program_.symbols.name(made.name),
                          " is already defined on entity ", entity->full_name),
                      other.at, made.at);
        entity->own.push_back(made);
      }
  }

  static Shape shape_of(Multiplicity count) {
    if (count.upper == 1)
      return count.lower == 1 ? Shape::one : Shape::option;
    return Shape::list;
  }
  Attribute* declare_end(Entity& entity, Symbol name, Place at, Multiplicity count,
                         Entity* target) {
    for (Entity* one : entity.lineage)
      for (const Attribute& other : one->own)
        if (other.name == name && entity.full_name != "std::Entity") {
          duplicate(cat("Attribute name ", program_.symbols.name(name), " is already defined in ",
                        one->full_name, ", unable to define relationship"),
                    other.at, at);
          return nullptr;
        }
    Attribute made;
    made.name = name;
    made.owner = &entity;
    made.shape = shape_of(count);
    made.target = target;
    made.count = count;
    made.at = at;
    entity.own.push_back(made);
    return &entity.own.back();
  }
  void declare_relation(Space& space, const RelationDefinition& definition) {
    Entity* left = entity_of(space, definition.left);
    Entity* right = entity_of(space, definition.right);
    if (left == nullptr || right == nullptr)
      return;
    Attribute* one =
        declare_end(*left, definition.left_name, definition.left_at, definition.left_count, right);
    if (one == nullptr || !definition.has_inverse)
      return;
    if (left == right && definition.left_name == definition.right_name) {
      one->inverse = one;
      return;
    }
    Attribute* other = declare_end(*right, definition.right_name, definition.right_at,
                                   definition.right_count, left);
    if (other == nullptr)
      return;
    one->inverse = other;
    other->inverse = one;
  }

  void slots(Entity& entity) {
    entity.slot_of_symbol.assign(program_.symbols.size(), no_slot);
    for (Entity* one : entity.lineage)
      for (Attribute& attribute : one->own) {
        uint32_t& slot = entity.slot_of_symbol[attribute.name];
        if (slot == no_slot) {
          slot = static_cast<uint32_t>(entity.slots.size());
          entity.slots.push_back(&attribute);
          continue;
        }
        const Attribute& first = *entity.slots[slot];
        if (first.shape != attribute.shape || first.type.name != attribute.type.name ||
            first.target != attribute.target)
          fail(first.at,
               cat("Incompatible attributes: attribute ", program_.symbols.name(first.name),
                   " of entity ", entity.full_name, " has type ", first.type.name, ", the one of ",
                   one->full_name, " has type ", attribute.type.name),
               10);
      }
  }

  /// The nearest declaration decides; true when `entity` or a parent provided a default.
  bool default_of(const Entity& entity, Symbol name, Datum& value) {
    for (const AttributeDefinition& definition : entity.definition->attributes)
      if (definition.name == name) {
        if (definition.initial == nullptr)
          return true;
        if (!fold_constant(program_, definition.initial, value))
          fail(
              definition.initial->at,
              cat("default value of attribute ", program_.symbols.name(name), " is not a constant"),
              10);
        return true;
      }
    for (const Entity* parent : entity.parents)
      if (default_of(*parent, name, value) && value.is_set())
        return true;
    return false;
  }
  void defaults(Entity& entity) {
    entity.defaults.resize(entity.slots.size());
    for (size_t i = 0; i < entity.slots.size(); ++i)
      if (entity.slots[i]->shape == Shape::value)
        default_of(entity, entity.slots[i]->name, entity.defaults[i]);
  }

  void declare_index(Space& space, const IndexDefinition& definition) {
    Entity* entity = entity_of(space, definition.entity);
    if (entity == nullptr)
      return;
    Index& index = program_.indexes.emplace_back();
    index.entity = entity;
    index.names.assign(definition.attributes.begin(), definition.attributes.end());
    std::sort(index.names.begin(), index.names.end(), [&](Symbol a, Symbol b) {
      return program_.symbols.name(a) < program_.symbols.name(b);
    });
    for (size_t i = 0; i < definition.attributes.size(); ++i) {
      const uint32_t slot = entity->slot(definition.attributes[i]);
      const std::string& name = program_.symbols.name(definition.attributes[i]);
      if (slot == no_slot)
        return fail(definition.places[i],
                    cat("Attribute '", name, "' referenced in index is not defined in entity ",
                        entity->full_name),
                    10);
      Attribute& attribute = *entity->slots[slot];
      if (attribute.shape == Shape::list || attribute.type.is_list)
        return fail(definition.places[i],
                    cat("Index can not contain list attributes, Attribute ", entity->full_name, ".",
                        name, " is a list"),
                    10);
      if (attribute.shape == Shape::option)
        return fail(definition.places[i],
                    cat("Index can not contain optional attributes, Attribute ", entity->full_name,
                        ".", name, " is optional"),
                    10);
    }
    for (Entity& other : program_.entities)
      if (other.is_a(entity)) {
        other.indexes.push_back(&index);
        for (const Symbol name : index.names)
          other.slots[other.slot(name)]->is_in_index = true;
      }
  }

  void declare_implement(Space& space, const ImplementDefinition& definition) {
    Entity* entity = entity_of(space, definition.entity);
    if (entity == nullptr)
      return;
    Implement made;
    made.condition = definition.condition;
    made.at = definition.at;
    entity->uses_parents |= definition.uses_parents;
    for (const QualifiedName& name : definition.implementations) {
      Space* from = name.space.empty() ? &space : program_.imported(space, name.space);
      Implementation* found = nullptr;
      if (from != nullptr)
        if (const auto at = from->implementations.find(name.name);
            at != from->implementations.end())
          found = at->second;
      if (found == nullptr) {
        type_not_found(space, name, "implementation");
        continue;
      }
      found->entity = program_.find_entity(*from, found->definition->entity);
      if (found->entity == nullptr)
        continue;
      if (!entity->is_a(found->entity))
        fail(name.at,
             cat("Type mismatch: cannot use implementation ", program_.symbols.name(name.name),
                 " for ", entity->full_name, " as its implementing type is ",
                 found->entity->full_name),
             10);
      made.implementations.push_back(found);
    }
    entity->implements.push_back(std::move(made));
  }

  void select(Entity& entity) {
    if (entity.is_selected)
      return;
    entity.is_selected = true;
    for (const Implement& implement : entity.implements)
      entity.selected.push_back(&implement);
    if (entity.uses_parents)
      for (Entity* parent : entity.parents) {
        select(*parent);
        entity.selected.insert(entity.selected.end(), parent->selected.begin(),
                               parent->selected.end());
      }
  }

  Program& program_;
  std::vector<Failure> failures_;
};

}  // namespace

std::vector<Failure> declare(Program& program) { return Declarer(program).run(); }

}  // namespace fettle::model
