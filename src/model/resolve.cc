/// Finds what names stand for, once, before anything runs: variables of blocks, attributes of
/// `self`, variables of namespaces. A name that stands for nothing fails only when it is read.

#include "base/text.h"
#include "model/program.h"

namespace fettle::model {

namespace {

struct Level {
  const Level* parent = nullptr;
  std::vector<Symbol> locals;
};

class Walk {
 public:
  Walk(Program& program, Space& space, const Entity* entity, std::vector<Failure>& failures)
      : program_(program),
        space_(space),
        entity_(entity),
        failures_(failures),
        self_(program.symbols.intern("self")) {}

  /// The variables that a block assigns; a root block's must be known before any name is found.
  Level locals(const Block& block, const Level* parent, const Symbol* variable) {
    Level level{parent, {}};
    if (variable != nullptr)
      level.locals.push_back(*variable);
    for (const Stmt* statement : block.statements)
      if (statement->kind == StmtKind::assign)
        as<Assign>(statement).slot = add(level, as<Assign>(statement).name.name);
    block.locals = program_.arena.copy(std::span<const Symbol>(level.locals));
    return level;
  }

  void block(const Block& block, const Level* parent, const Symbol* variable) {
    const Level level = locals(block, parent, variable);
    for (const Stmt* statement : block.statements)
      this->statement(statement, &level);
    std::vector<const AssignAttribute*> promises;
    collect(block, promises);
    block.promises = program_.arena.copy(std::span<const AssignAttribute* const>(promises));
  }

  void expression(const Expr* expr, const Level* level) {
    switch (expr->kind) {
      case ExprKind::constant:
      case ExprKind::regex:
        return;
      case ExprKind::format:
        for (const FormatPart& part : as<Format>(expr).parts) {
          if (part.value != nullptr)
            expression(part.value, level);
          if (part.spec != nullptr)
            expression(part.spec, level);
        }
        return;
      case ExprKind::name:
        return name(as<Name>(expr), level);
      case ExprKind::attribute:
        return expression(as<AttributeRef>(expr).object, level);
      case ExprKind::constructor: {
        const auto& node = as<Constructor>(expr);
        node.entity = program_.find_entity(space_, node.type);
        if (node.entity == nullptr && !node.type.space.empty())
          not_found(node.type, "type");
        return arguments(node.arguments, level);
      }
      case ExprKind::call: {
        const auto& node = as<Call>(expr);
        const std::string& function = program_.symbols.name(node.function.name);
        Space* from =
            node.function.space.empty() ? &space_ : program_.imported(space_, node.function.space);
        node.plugin = from == nullptr ? nullptr : find_plugin(program_, *from, function);
        const bool is_cast = node.function.space.empty() &&
                             (function == "int" || function == "float" || function == "number" ||
                              function == "string" || function == "bool");
        if (node.plugin == nullptr && !is_cast)
          function_not_found(node.function, from);
        return arguments(node.arguments, level);
      }
      case ExprKind::list:
        for (const Expr* item : as<ListExpr>(expr).items)
          expression(item, level);
        return;
      case ExprKind::comprehension:
        return comprehension(as<Comprehension>(expr), 0, level);
      case ExprKind::dict:
        for (const DictItem& item : as<DictExpr>(expr).items)
          expression(item.value, level);
        return;
      case ExprKind::index_lookup: {
        const auto& node = as<IndexLookup>(expr);
        node.entity = program_.find_entity(space_, node.type);
        if (node.entity == nullptr)
          not_found(node.type, "type");
        return arguments(node.arguments, level);
      }
      case ExprKind::short_lookup:
        expression(as<ShortLookup>(expr).relation, level);
        return arguments(as<ShortLookup>(expr).arguments, level);
      case ExprKind::map_lookup:
        expression(as<MapLookup>(expr).object, level);
        return expression(as<MapLookup>(expr).key, level);
      case ExprKind::binary:
        expression(as<Binary>(expr).left, level);
        return expression(as<Binary>(expr).right, level);
      case ExprKind::negation:
        return expression(as<Negation>(expr).operand, level);
      case ExprKind::conditional:
        expression(as<Conditional>(expr).condition, level);
        expression(as<Conditional>(expr).yes, level);
        return expression(as<Conditional>(expr).no, level);
      case ExprKind::is_defined:
        return expression(as<IsDefined>(expr).operand, level);
    }
  }

 private:
  static uint32_t add(Level& level, Symbol name) {
    for (size_t i = 0; i < level.locals.size(); ++i)
      if (level.locals[i] == name)
        return static_cast<uint32_t>(i);
    level.locals.push_back(name);
    return static_cast<uint32_t>(level.locals.size() - 1);
  }

  void arguments(std::span<const Argument> arguments, const Level* level) {
    for (const Argument& argument : arguments)
      expression(argument.value, level);
  }

  void comprehension(const Comprehension& node, size_t clause, const Level* level) {
    if (clause == node.clauses.size()) {
      for (const Expr* guard : node.guards)
        expression(guard, level);
      return expression(node.value, level);
    }
    expression(node.clauses[clause].iterable, level);
    const Level inner{level, {node.clauses[clause].variable}};
    comprehension(node, clause + 1, &inner);
  }

  void name(const Name& node, const Level* level) {
    const Symbol symbol = node.name.name;
    if (!node.name.space.empty()) {
      Space* from = program_.imported(space_, node.name.space);
      node.found = NameKind::missing;
      if (from != nullptr)
        global(node, *from);
      return;
    }
    uint32_t depth = 0;
    for (; level != nullptr; level = level->parent, ++depth)
      for (size_t i = 0; i < level->locals.size(); ++i)
        if (level->locals[i] == symbol) {
          node.found = NameKind::local;
          node.depth = depth;
          node.slot = static_cast<uint32_t>(i);
          return;
        }
    node.found = NameKind::missing;
    if (entity_ != nullptr && symbol == self_)
      node.found = NameKind::self_value;
    else if (entity_ != nullptr && entity_->slot(symbol) != no_slot)
      node.found = NameKind::self_attribute;
    else
      global(node, space_);
  }
  void global(const Name& node, const Space& from) {
    const Block& body = *from.unit.body;
    for (size_t i = 0; i < body.locals.size(); ++i)
      if (body.locals[i] == node.name.name) {
        node.found = NameKind::global;
        node.depth = from.id;
        node.slot = static_cast<uint32_t>(i);
      }
  }

  void statement(const Stmt* statement, const Level* level) {
    switch (statement->kind) {
      case StmtKind::expression:
        return expression(as<ExprStmt>(statement).expression, level);
      case StmtKind::assign:
        return expression(as<Assign>(statement).value, level);
      case StmtKind::assign_attribute:
        expression(as<AssignAttribute>(statement).object, level);
        return expression(as<AssignAttribute>(statement).value, level);
      case StmtKind::for_: {
        const auto& node = as<For>(statement);
        expression(node.iterable, level);
        return block(*node.body, level, &node.variable);
      }
      case StmtKind::if_: {
        const auto& node = as<If>(statement);
        expression(node.condition, level);
        block(*node.yes, level, nullptr);
        return block(*node.no, level, nullptr);
      }
    }
  }

  /// Assignments in the block whose object is known outside of it.
  static void collect(const Block& block, std::vector<const AssignAttribute*>& found) {
    for (const Stmt* statement : block.statements)
      if (statement->kind == StmtKind::assign_attribute) {
        const Expr* root = as<AssignAttribute>(statement).object;
        while (root->kind == ExprKind::attribute)
          root = as<AttributeRef>(root).object;
        if (root->kind == ExprKind::name &&
            (as<Name>(root).found != NameKind::local || as<Name>(root).depth > 0))
          found.push_back(&as<AssignAttribute>(statement));
      }
  }

  void function_not_found(const QualifiedName& name, const Space* from) {
    if (from == nullptr)
      return not_found(name, "type");
    failures_.push_back({program_.error_at(name.at, cat("could not find type ", program_.text(name),
                                                        " in namespace ", from->name)),
                         20});
  }

  void not_found(const QualifiedName& name, std::string_view what) {
    std::string message =
        cat("could not find ", what, " ", program_.text(name), " in namespace ", space_.name);
    if (!name.space.empty() && program_.imported(space_, name.space) == nullptr &&
        program_.space(name.space) != nullptr)
      message += cat("\nTry importing the module with `import ", name.space, "`");
    failures_.push_back({program_.error_at(name.at, message), 20});
  }

  Program& program_;
  Space& space_;
  const Entity* entity_;
  std::vector<Failure>& failures_;
  Symbol self_;
};

}  // namespace

void resolve_program(Program& program, std::vector<Failure>& failures) {
  for (Space& space : program.spaces)
    Walk(program, space, nullptr, failures).locals(*space.unit.body, nullptr, nullptr);
  for (Space& space : program.spaces) {
    Walk walk(program, space, nullptr, failures);
    // The names of a root block are global, so that its own level stays out of the way.
    walk.block(*space.unit.body, nullptr, nullptr);
  }
  const Symbol self = program.symbols.intern("self");
  for (Space& space : program.spaces) {
    for (const TypedefDefinition* definition : space.unit.typedefs) {
      const Level level{nullptr, {self}};
      Walk(program, space, nullptr, failures).expression(definition->condition, &level);
    }
    for (const ImplementationDefinition* definition : space.unit.implementations) {
      const Entity* entity = program.find_entity(space, definition->entity);
      if (entity == nullptr)
        failures.push_back(
            {program.error_at(definition->entity.at,
                              cat("could not find type ", program.text(definition->entity),
                                  " in namespace ", space.name)),
             20});
      else
        Walk(program, space, entity, failures).block(*definition->body, nullptr, nullptr);
    }
    for (const ImplementDefinition* definition : space.unit.implements)
      if (const Entity* entity = program.find_entity(space, definition->entity);
          entity != nullptr && definition->condition != nullptr)
        Walk(program, space, entity, failures).expression(definition->condition, nullptr);
    for (const RelationDefinition* definition : space.unit.relations)
      for (const Expr* annotation : definition->annotations)
        Walk(program, space, nullptr, failures).expression(annotation, nullptr);
  }
}

}  // namespace fettle::model
