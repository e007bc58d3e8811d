/// Finds what names stand for, once, before anything runs: variables of blocks, attributes of
/// `self`, variables of namespaces. A name that stands for nothing fails only when it is read.

#include <ranges>

#include "base/text.h"
#include "model/describe.h"
#include "model/program.h"
#include "model/suggest.h"
#include "model/text_form.h"

namespace fettle::model {

namespace {

struct Level {
  const Level* parent = nullptr;
  Variables variables;
};

/// Stands for one that is known when the statement runs.
const Attribute some_attribute;

/// The names that an expression reads whatever happens: not those of branches and bodies.
/// `reader` computes with them.
void collect_needs(const Expr* expr, const Expr* reader, std::vector<Need>& needs) {
  if (!hands_on(expr))
    reader = expr;
  switch (expr->kind) {
    case ExprKind::name:
      needs.push_back({&as<Name>(expr), reader});
      return;
    case ExprKind::attribute:
      return collect_needs(as<AttributeRef>(expr).object, reader, needs);
    case ExprKind::call:
      for (const Argument& argument : as<Call>(expr).arguments)
        collect_needs(argument.value, reader, needs);
      return;
    case ExprKind::list:
      for (const Expr* item : as<ListExpr>(expr).items)
        collect_needs(item, reader, needs);
      return;
    case ExprKind::dict:
      for (const DictItem& item : as<DictExpr>(expr).items)
        collect_needs(item.value, reader, needs);
      return;
    case ExprKind::format:
      for (const FormatPart& part : as<Format>(expr).parts)
        if (part.value != nullptr)
          collect_needs(part.value, reader, needs);
      return;
    case ExprKind::comprehension:
      return collect_needs(as<Comprehension>(expr).iterable, reader, needs);
    case ExprKind::index_lookup:
      for (const Argument& argument : as<IndexLookup>(expr).arguments)
        collect_needs(argument.value, reader, needs);
      return;
    case ExprKind::short_lookup:
      collect_needs(as<ShortLookup>(expr).relation, reader, needs);
      for (const Argument& argument : as<ShortLookup>(expr).arguments)
        collect_needs(argument.value, reader, needs);
      return;
    case ExprKind::map_lookup:
      collect_needs(as<MapLookup>(expr).object, reader, needs);
      return collect_needs(as<MapLookup>(expr).key, reader, needs);
    case ExprKind::binary: {
      const auto& node = as<Binary>(expr);
      collect_needs(node.left, reader, needs);
      if (node.op != Operator::and_ && node.op != Operator::or_)
        collect_needs(node.right, reader, needs);
      return;
    }
    case ExprKind::negation:
      return collect_needs(as<Negation>(expr).operand, reader, needs);
    case ExprKind::conditional:
      return collect_needs(as<Conditional>(expr).condition, reader, needs);
    case ExprKind::constructor: {
      const auto& node = as<Constructor>(expr);
      for (const Argument& argument : node.arguments) {
        const uint32_t slot = argument.is_unpacked ? no_slot : node.entity->slot(argument.name);
        if (argument.is_unpacked || (slot != no_slot && node.entity->slots[slot]->is_in_index))
          collect_needs(argument.value, reader, needs);
      }
      return;
    }
    case ExprKind::constant:
    case ExprKind::is_defined:
    case ExprKind::regex:
      return;
  }
}

/// Who takes the elements of a list one by one reads them itself.
void collect_gradually(const Expr* expr, std::vector<Need>& needs) {
  if (expr->kind != ExprKind::list)
    return collect_needs(expr, nullptr, needs);
  for (const Expr* item : as<ListExpr>(expr).items)
    collect_gradually(item, needs);
}

/// The first name without which the expression can not begin and that stands for nothing.
Need missing_in(const Expr* expr, bool is_gradual) {
  std::vector<Need> needs;
  if (is_gradual)
    collect_gradually(expr, needs);
  else
    collect_needs(expr, nullptr, needs);
  const auto found =
      std::ranges::find_if(needs, [](const Need& need) { return is_nothing(*need.name); });
  return found == needs.end() ? Need() : *found;
}

class Walk {
 public:
  Walk(Program& program, Space& space, const Entity* entity, std::vector<Failure>& failures,
       const std::function<void(const Error&)>& warn)
      : program_(program),
        space_(space),
        entity_(entity),
        failures_(failures),
        warn_(warn),
        self_(program.symbols.intern("self")) {}

  /// The variables that a block assigns; a root block's must be known before any name is found.
  Variables variables(const Block& block, const For* loop) {
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

  void block(const Block& block, const Level* parent, const For* loop) {
    const bool is_root = parent == nullptr && entity_ == nullptr;
    const Level level{parent, is_root ? Variables() : variables(block, loop)};
    if (!is_root && warn_)
      warn_of_shadows(level, block);
    for (size_t i = 0; i < block.statements.size(); ++i)
      statement(block.statements[is_root ? i : block.statements.size() - 1 - i], &level);
    keep_foreseen(block);
  }

  /// `to`: the attribute that gets the value, for short names and keys that it implies;
  /// `some_attribute` when that is known only later.
  void expression(const Expr* expr, const Level* level, const Attribute* to = nullptr) {
    if (!failures_.empty())
      return;
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
        as<AttributeRef>(expr).is_in_type = is_in_type_;
        return expression(as<AttributeRef>(expr).object, level);
      case ExprKind::constructor:
        return constructor(as<Constructor>(expr), level, to);
      case ExprKind::call:
        return call(as<Call>(expr), level);
      case ExprKind::list:
        for (const Expr* item : as<ListExpr>(expr).items)
          expression(item, level, to);
        return;
      case ExprKind::comprehension:
        return comprehension(as<Comprehension>(expr), level, to);
      case ExprKind::dict:
        for (const DictItem& item : as<DictExpr>(expr).items)
          expression(item.value, level);
        return;
      case ExprKind::index_lookup: {
        const auto& node = as<IndexLookup>(expr);
        node.entity = program_.find_entity(space_, node.type);
        if (node.entity == nullptr)
          return not_found(node.type);
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
        expression(as<Conditional>(expr).yes, level, to);
        return expression(as<Conditional>(expr).no, level, to);
      case ExprKind::is_defined:
        return expression(as<IsDefined>(expr).operand, level);
    }
  }

 private:
  /// The variable that one of this block hides; null when there is none.
  const Variable* around(const Level& level, Symbol name) const {
    for (const Level* outer = level.parent; outer != nullptr; outer = outer->parent)
      if (const auto found = outer->variables.find(name); found != outer->variables.end())
        return &found->second;
    const auto global = space_.variables.find(name);
    return global == space_.variables.end() ? nullptr : &global->second;
  }

  void warn_of_shadows(const Level& level, const Block& block) const {
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

  void arguments(std::span<const Argument> arguments, const Level* level) {
    for (const Argument& argument : arguments)
      expression(argument.value, level);
  }

  /// All names that could stand where a call stands.
  void visible(const Call& node, const Level* level) {
    std::vector<Symbol> symbols;
    for (const Level* at = level; at != nullptr; at = at->parent)
      for (const auto& [symbol, variable] : at->variables)
        symbols.push_back(symbol);
    if (entity_ != nullptr) {
      symbols.push_back(self_);
      for (const Attribute* attribute : entity_->slots)
        symbols.push_back(attribute->name);
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

  void comprehension(const Comprehension& node, const Level* level, const Attribute* to) {
    expression(node.iterable, level);
    const Level inner{level, {{node.variable, Variable()}}};
    if (node.guard != nullptr)
      expression(node.guard, &inner);
    expression(node.value, &inner, to);
  }

  void name(const Name& node, const Level* level) {
    const Symbol symbol = node.name.name;
    if (!node.name.space.empty() && !is_in_type_) {
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
    node.found = is_in_type_ ? NameKind::in_type : NameKind::missing;
    if (is_in_type_)
      return;
    if (entity_ != nullptr && symbol == self_)
      node.found = NameKind::self_value;
    else if (entity_ != nullptr && entity_->slot(symbol) != no_slot)
      node.found = NameKind::self_attribute;
    else
      global(node, space_);
  }
  void global(const Name& node, const Space& from) {
    const auto found = from.variables.find(node.name.name);
    if (found == from.variables.end())
      return;
    node.found = NameKind::global;
    node.depth = from.id;
    node.slot = found->second.slot;
  }

  void statement(const Stmt* statement, const Level* level) {
    if (!failures_.empty())
      return;
    statement_ = statement;
    names_of(statement, level);
    if (!failures_.empty())
      return;
    std::vector<Need> needs;
    switch (statement->kind) {
      case StmtKind::expression:
        collect_needs(as<ExprStmt>(statement).expression, nullptr, needs);
        break;
      case StmtKind::assign:
        collect_needs(as<Assign>(statement).value, nullptr, needs);
        break;
      case StmtKind::assign_attribute:
        collect_needs(as<AssignAttribute>(statement).object, nullptr, needs);
        break;
      case StmtKind::for_:
        collect_needs(as<For>(statement).iterable, nullptr, needs);
        break;
      case StmtKind::if_:
        collect_needs(as<If>(statement).condition, nullptr, needs);
        break;
    }
    keep_needs(*statement, needs);
  }

  void names_of(const Stmt* statement, const Level* level) {
    switch (statement->kind) {
      case StmtKind::expression:
        return expression(as<ExprStmt>(statement).expression, level);
      case StmtKind::assign:
        if (!as<Assign>(statement).name.space.empty())
          foreign(as<Assign>(statement));
        return expression(as<Assign>(statement).value, level);
      case StmtKind::assign_attribute:
        expression(as<AssignAttribute>(statement).object, level);
        expression(as<AssignAttribute>(statement).value, level, &some_attribute);
        if (failures_.empty())
          as<AssignAttribute>(statement).missing =
              missing_in(as<AssignAttribute>(statement).value, false).name;
        return;
      case StmtKind::for_: {
        const auto& node = as<For>(statement);
        expression(node.iterable, level);
        if (!failures_.empty())
          return;
        if (const Need missing = missing_in(node.iterable, true); missing.reader == nullptr)
          node.missing = missing.name;
        return block(*node.body, level, &node);
      }
      case StmtKind::if_: {
        return chain(as<If>(statement), level);
      }
    }
  }

  /// An `if` with all its `elif`.
  void chain(const If& first, const Level* level) {
    std::vector<const Block*> blocks;
    for (const If* node = &first;;) {
      expression(node->condition, level);
      block(*node->yes, level, nullptr);
      if (!failures_.empty())
        return;
      if (!node->no->is_elif) {
        block(*node->no, level, nullptr);
        break;
      }
      blocks.push_back(node->no);
      statement_ = node->no->statements[0];
      node = &as<If>(statement_);
      std::vector<Need> needs;
      collect_needs(node->condition, nullptr, needs);
      keep_needs(*node, needs);
    }
    for (const Block* one : blocks | std::views::reverse)
      keep_foreseen(*one);
  }

  void keep_needs(const Stmt& statement, const std::vector<Need>& needs) {
    std::vector<const Name*> names;
    for (const Need& need : needs)
      names.push_back(need.name);
    statement.needs = program_.arena.copy(std::span<const Name* const>(names));
  }

  void keep_foreseen(const Block& block) {
    std::vector<Foreseen> foreseen;
    foresee(block, foreseen);
    // Each of a chain has those of all behind it.
    if (program_.budget->has_room(2 * foreseen.size() * sizeof(Foreseen)))
      block.foreseen = program_.arena.copy(std::span<const Foreseen>(foreseen));
  }

  /// An assignment to a variable of a namespace, which only that namespace can declare.
  void foreign(const Assign& node) {
    const QualifiedName& target = node.name;
    const Space* to = program_.imported(space_, target.space);
    if (to == nullptr)
      return fail(target.at,
                  cat("Namespace ", target.space, " not found.\nTry importing it with `import ",
                      target.space, "`"),
                  reported_in(program_, static_cast<const Stmt*>(&node)), 20);
    const auto found = to->variables.find(target.name);
    if (found == to->variables.end()) {
      fail(target.at, cat("variable ", program_.symbols.name(target.name), " not found"),
           reported_in(program_, static_cast<const Stmt*>(&node)), 20);
      failures_.back().meant = meant_variable(program_, target);
      return;
    }
    node.space = to->id;
    node.slot = found->second.slot;
  }

  /// Assignments whose object is known outside of the block. Inner blocks have been foreseen
  /// already: theirs count when their object is known outside of this one as well.
  static void foresee(const Block& block, std::vector<Foreseen>& found) {
    const auto add = [&](const Foreseen& one) {
      const Expr* root = one.assignment->object;
      while (root->kind == ExprKind::attribute)
        root = as<AttributeRef>(root).object;
      if (root->kind == ExprKind::name &&
          (as<Name>(root).found != NameKind::local || as<Name>(root).depth >= one.levels))
        found.push_back(one);
    };
    const auto add_inner = [&](const Block& inner) {
      for (const Foreseen& one : inner.foreseen)
        add({one.assignment, one.levels + (block.is_elif ? 0 : 1)});
    };
    for (const Stmt* statement : block.statements) {
      if (statement->kind == StmtKind::assign_attribute)
        add({&as<AssignAttribute>(statement), 1});
      if (statement->kind == StmtKind::for_)
        add_inner(*as<For>(statement).body);
      if (statement->kind == StmtKind::if_) {
        add_inner(*as<If>(statement).yes);
        add_inner(*as<If>(statement).no);
      }
    }
  }

  void fail(Place at, std::string message, std::string reported, int rank) {
    Failure made{program_.error_at(at, ""), rank};
    made.reasons.push_back({std::move(message), std::move(reported)});
    failures_.push_back(std::move(made));
  }
  /// In the statement that is resolved now; outside of one only the place is told.
  void fail_in_statement(Place at, const std::string& message, int rank) {
    at.is_exact = 1;
    const std::string where = cat(" (", program_.location(at), ")");
    if (!reporter_.empty())
      fail(at, message, cat(reporter_, where), rank);
    else if (statement_ != nullptr)
      fail(at, message, cat(describe(program_, statement_), where), rank);
    else
      fail(at, cat(message, where), "", rank);
  }
  void not_found(const QualifiedName& name) {
    fail_in_statement(name.at, program_.not_found(space_, name), 20);
    failures_.back().meant = meant_type(program_, space_, name);
  }

  void constructor(const Constructor& node, const Level* level, const Attribute* to) {
    node.entity = program_.find_entity(space_, node.type);
    const Entity* const hint = to == nullptr ? nullptr : to->target;
    if (node.entity == nullptr && node.type.space.empty() && hint != nullptr && !guess(node, *hint))
      return;
    if (node.entity == nullptr)
      return not_found(node.type);
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
    if (failures_.empty())
      complete(node, to);
  }

  /// A short name may stand for a subtype of what the relation wants.
  bool guess(const Constructor& node, const Entity& hint) {
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
        20);
    return false;
  }

  /// A constructor of a wrong type as an argument is found before anything runs.
  void assignable(const Expr* value, const Attribute& attribute) {
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
         reported_in(program_, value), 10);
  }

  /// The keys that nobody can give. `**` may hold some, the other side of a relation implies one,
  /// and what the attribute is may be known only when the constructor runs.
  static std::vector<uint32_t> missing_slots(const Constructor& node, const Attribute* to) {
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
    const bool is_later = to == &some_attribute || (to != nullptr && !lacks_inverse);
    const bool is_implied = missing.size() == 1 && lacks_inverse && !to->is_in_index;
    return is_later || is_implied ? std::vector<uint32_t>() : missing;
  }

  /// An index that names an attribute twice, names that the entity does not have, and keys that
  /// nobody gives.
  void complete(const Constructor& node, const Attribute* to) {
    for (const Index* index : node.entity->indexes)
      if (const auto twice = std::ranges::adjacent_find(index->names); twice != index->names.end())
        return fail(
            node.at,
            cat("Attribute ", program_.symbols.name(*twice), " provided twice in index lookup"),
            reported_in(program_, static_cast<const Expr*>(&node)), 10);
    for (const Argument& argument : node.arguments) {
      if (argument.is_unpacked || node.entity->slot(argument.name) != no_slot)
        continue;
      Place at = argument.at;
      at.is_exact = 1;
      const std::string& name = program_.symbols.name(argument.name);
      fail(at, cat("no attribute ", name, " on type ", node.entity->full_name),
           cat(name, " (", program_.location(at), ")"), 10);
      failures_.back().meant = meant_attribute(program_, *node.entity, name);
      return;
    }
    if (const std::vector<uint32_t> missing = missing_slots(node, to); !missing.empty())
      fail(node.at, missing_keys(program_, *node.entity, missing),
           reported_in(program_, static_cast<const Expr*>(&node)), 10);
  }

  void call(const Call& node, const Level* level) {
    const std::string& function = program_.symbols.name(node.function.name);
    const bool is_plain = node.function.space.empty();
    Space* from = is_plain ? &space_ : program_.imported(space_, node.function.space);
    node.plugin = from == nullptr ? nullptr : find_plugin(program_, *from, function);
    if (node.plugin != nullptr && from->name == "std" && function == "template")
      visible(node, level);
    const bool is_cast =
        is_plain && (function == "int" || function == "float" || function == "number" ||
                     function == "string" || function == "bool");
    arguments(node.arguments, level);
    if (node.plugin != nullptr || is_cast || !failures_.empty())
      return;
    const bool is_type = (is_plain && function == "list") ||
                         (from != nullptr && (from->typedefs.contains(node.function.name) ||
                                              from->implementations.contains(node.function.name)));
    if (!is_type)
      return not_found(node.function);
    fail(node.at,
         cat("Can not call '", program_.text(node.function),
             "', can only call plugin or primitive type cast"),
         reported_in(program_, static_cast<const Expr*>(&node)), 10);
  }

 public:
  /// Annotations are read in any case, so that their names must be there.
  void annotation(const RelationDefinition& definition, const Expr* annotation) {
    if (!failures_.empty() || annotation->kind != ExprKind::name)
      return;
    const auto& name = as<Name>(annotation);
    if (name.found == NameKind::no_space)
      return fail(annotation->at, no_space_text(name), reported_in(program_, annotation), 20);
    if (name.found != NameKind::missing)
      return;
    fail(annotation->at, cat("variable ", program_.text(name.name), " not found"),
         cat(reporter_, " (", program_.location(definition.left_at), ")"), 20);
    failures_.back().meant = meant_variable(program_, name.name);
  }
  std::string reporter_;  ///< a definition that tells instead of a statement
  bool is_in_type_ = false;

 private:
  const Stmt* statement_ = nullptr;
  Program& program_;
  Space& space_;
  const Entity* entity_;
  std::vector<Failure>& failures_;
  const std::function<void(const Error&)>& warn_;
  Symbol self_;
};

}  // namespace

void resolve_program(Program& program, const std::function<void(const Error&)>& warn,
                     std::vector<Failure>& failures) {
  for (Space& space : program.spaces)
    space.variables =
        Walk(program, space, nullptr, failures, warn).variables(*space.unit.body, nullptr);
  const Symbol self = program.symbols.intern("self");
  for (Space& space : program.spaces) {
    for (const TypedefDefinition* definition : space.unit.typedefs) {
      const Level level{nullptr, {{self, Variable()}}};
      Walk walk(program, space, nullptr, failures, warn);
      walk.is_in_type_ = true;
      walk.expression(definition->condition, &level);
    }
    for (const RelationDefinition* definition : space.unit.relations)
      for (const Expr* annotation : definition->annotations) {
        Walk walk(program, space, nullptr, failures, warn);
        walk.reporter_ = cat("Relation(", program.text(definition->left), ", ",
                             program.text(definition->right), ")");
        walk.expression(annotation, nullptr);
        walk.annotation(*definition, annotation);
      }
    for (const ImplementDefinition* definition : space.unit.implements)
      if (definition->condition != nullptr)
        Walk(program, space, program.find_entity(space, definition->entity), failures, warn)
            .expression(definition->condition, nullptr);
    for (const ImplementationDefinition* definition : space.unit.implementations)
      Walk(program, space, program.find_entity(space, definition->entity), failures, warn)
          .block(*definition->body, nullptr, nullptr);
  }
  // The names of a root block are global, so that its own level stays out of the way.
  for (Space& space : program.spaces)
    Walk(program, space, nullptr, failures, warn).block(*space.unit.body, nullptr, nullptr);
  if (failures.size() > 1)
    failures.resize(1);
}

}  // namespace fettle::model
