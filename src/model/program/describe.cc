#include "model/program/describe.h"

#include <algorithm>

#include "base/text.h"
#include "model/program/instance.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

std::string describe_constant(const Program& program, const Datum& value) {
  if (value.tag == Tag::boolean)
    return value.boolean ? "true" : "false";
  return quoted(program, value);
}

std::string describe_all(const Program& program, std::span<const Argument> arguments) {
  std::string made;
  std::vector<Argument> ordered(arguments.begin(), arguments.end());
  std::ranges::stable_partition(ordered,
                                [](const Argument& argument) { return argument.is_positional; });
  for (const Argument& argument : ordered) {
    made += made.empty() ? "" : ",";
    if (argument.is_unpacked)
      made += "**";
    else if (!argument.is_positional)
      made += cat(program.symbols.name(argument.name), "=");
    made += describe(program, argument.value);
  }
  return made;
}

/// `[('k', 1), ('s', x)]`, followed by what is unpacked.
std::string describe_keys(const Program& program, std::span<const Argument> arguments) {
  std::string named;
  std::string unpacked;
  for (const Argument& argument : arguments)
    if (argument.is_unpacked)
      unpacked += cat(",**", describe(program, argument.value));
    else
      named += cat(named.empty() ? "" : ", ", "('", program.symbols.name(argument.name), "', ",
                   describe(program, argument.value), ")");
  return cat("[[", named, "]", unpacked, "]");
}

bool is_constant(const Expr* expr);
std::string describe_constructor(const Program& program, const Constructor& node);

/// A list with its elements, a constructor with its arguments.
std::string describe_in_full(const Program& program, const Expr* expr) {
  if (expr->kind == ExprKind::constructor)
    return describe_constructor(program, as<Constructor>(expr));
  if (expr->kind != ExprKind::list || is_constant(expr))
    return describe(program, expr);
  std::string items;
  for (const Expr* item : as<ListExpr>(expr).items)
    items += cat(items.empty() ? "" : ", ", describe_in_full(program, item));
  return cat("[", items, "]");
}

/// An unpacked argument stands last, behind four stars.
std::string describe_constructor(const Program& program, const Constructor& node) {
  std::string named;
  std::string unpacked;
  for (const Argument& argument : node.arguments) {
    const std::string value = describe_in_full(program, argument.value);
    if (argument.is_unpacked)
      unpacked += cat(",****", value);
    else
      named += cat(",", program.symbols.name(argument.name), "=", value);
  }
  const std::string all = named + unpacked;
  return cat(program.text(node.type), "(", all.substr(std::min<size_t>(all.size(), 1)), ")");
}

std::string describe_comprehension(const Program& program, const Comprehension& node) {
  return cat("[", describe_in_full(program, node.value), " for ",
             program.symbols.name(node.variable), " in ", describe_in_full(program, node.iterable),
             node.guard == nullptr ? "" : cat(" if ", describe(program, node.guard)), "]");
}

std::string describe_format(const Program& program, const Format& format) {
  const Text text{format.source};
  const std::string source = quoted(program, Datum::of(&text));
  return format.is_f_string ? source : cat("Format(", source, ")");
}

bool is_constant(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::constant:
      return true;
    case ExprKind::list:
      return std::ranges::all_of(as<ListExpr>(expr).items, is_constant);
    case ExprKind::dict:
      for (const DictItem& item : as<DictExpr>(expr).items)
        if (!is_constant(item.value))
          return false;
      return true;
    default:
      return false;
  }
}

/// A literal list or dict of constants as Python prints it.
std::string describe_literal(const Program& program, const Expr* expr) {
  if (expr->kind == ExprKind::constant)
    return quoted(program, as<Constant>(expr).value);
  std::string made;
  if (expr->kind == ExprKind::list) {
    for (const Expr* item : as<ListExpr>(expr).items)
      made += cat(made.empty() ? "" : ", ", describe_literal(program, item));
    return cat("[", made, "]");
  }
  for (const DictItem& item : as<DictExpr>(expr).items)
    made += cat(made.empty() ? "" : ", ", quoted(program, Datum::of(item.key)), ": ",
                describe_literal(program, item.value));
  return cat("{", made, "}");
}

}  // namespace

std::string describe(const Program& program, const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::constant:
      return describe_constant(program, as<Constant>(expr).value);
    case ExprKind::format:
      return describe_format(program, as<Format>(expr));
    case ExprKind::name:
      return program.text(as<Name>(expr).name);
    case ExprKind::attribute:
      return cat(describe(program, as<AttributeRef>(expr).object), ".",
                 program.symbols.name(as<AttributeRef>(expr).name));
    case ExprKind::constructor:
      return cat("Construct(", program.text(as<Constructor>(expr).type), ")");
    case ExprKind::call:
      return cat(program.text(as<Call>(expr).function), "(",
                 describe_all(program, as<Call>(expr).arguments), ")");
    case ExprKind::list:
      return is_constant(expr) ? describe_literal(program, expr) : "List()";
    case ExprKind::dict:
      return is_constant(expr) ? describe_literal(program, expr) : "Dict()";
    case ExprKind::comprehension:
      return describe_comprehension(program, as<Comprehension>(expr));
    case ExprKind::index_lookup:
      return cat(program.text(as<IndexLookup>(expr).type),
                 describe_keys(program, as<IndexLookup>(expr).arguments));
    case ExprKind::short_lookup:
      return cat(describe(program, as<ShortLookup>(expr).relation),
                 describe_keys(program, as<ShortLookup>(expr).arguments));
    case ExprKind::map_lookup:
      return cat(describe(program, as<MapLookup>(expr).object), "[",
                 describe(program, as<MapLookup>(expr).key), "]");
    case ExprKind::binary:
      return cat("(", describe_in_full(program, as<Binary>(expr).left), " ",
                 spelling(as<Binary>(expr).op), " ",
                 describe_in_full(program, as<Binary>(expr).right), ")");
    case ExprKind::negation:
      return cat("Not(", describe(program, as<Negation>(expr).operand), ")");
    case ExprKind::conditional:
      return cat(describe(program, as<Conditional>(expr).condition), " ? ",
                 describe(program, as<Conditional>(expr).yes), " : ",
                 describe(program, as<Conditional>(expr).no));
    case ExprKind::is_defined:
      return cat(describe(program, as<IsDefined>(expr).operand), " is defined");
    case ExprKind::regex:
      return cat("/", as<Regex>(expr).pattern, "/");
  }
  return "";
}

std::string describe(const Program& program, const Stmt* statement) {
  switch (statement->kind) {
    case StmtKind::expression:
      return describe(program, as<ExprStmt>(statement).expression);
    case StmtKind::assign:
      return cat(program.text(as<Assign>(statement).name), " = ",
                 describe(program, as<Assign>(statement).value));
    case StmtKind::assign_attribute: {
      const auto& node = as<AssignAttribute>(statement);
      return cat(describe(program, node.object), ".", program.symbols.name(node.name), " = ",
                 describe(program, node.value));
    }
    case StmtKind::for_:
      return cat("For(", program.symbols.name(as<For>(statement).variable), ")");
    case StmtKind::if_:
      return "If";
  }
  return "";
}

std::string describe(const Program& program, const AttributeDefinition& definition) {
  std::string initial = definition.initial == nullptr ? "" : describe(program, definition.initial);
  if (definition.initial != nullptr && definition.initial->kind == ExprKind::list)
    initial = "List()";
  if (definition.initial != nullptr && definition.initial->kind == ExprKind::dict)
    initial = "Dict()";
  return cat(program.text(definition.type.name), definition.type.is_list ? "[]" : "",
             definition.type.is_nullable ? "?" : "", " ", program.symbols.name(definition.name),
             initial.empty() ? "" : " = ", initial);
}

std::string describe(const Program& program, const Entity& entity, const Implement& implement) {
  std::string names;
  for (const Implementation* implementation : implement.implementations)
    names += cat(names.empty() ? "" : ", ", program.symbols.name(implementation->name));
  std::string made = cat("implement ", entity.full_name, " using ", names);
  if (implement.condition != nullptr)
    made += cat(" when ", describe(program, implement.condition));
  return made;
}

Place location_of(const Expr* expr) {
  Place at = expr->at;
  at.is_exact = at.is_exact || expr->kind == ExprKind::name || expr->kind == ExprKind::call ||
                expr->kind == ExprKind::conditional ||
                (expr->kind == ExprKind::format && as<Format>(expr).is_f_string);
  return at;
}

std::string missing_keys(const Program& program, const Entity& entity,
                         std::span<const uint32_t> slots) {
  std::string message = "Invalid Constructor call:";
  for (const Index* index : entity.indexes)
    for (const Symbol symbol : index->names) {
      const uint32_t slot = entity.slot(symbol);
      if (std::ranges::find(slots, slot) == slots.end())
        continue;
      const std::string& name = program.symbols.name(symbol);
      const char* kind = entity.slots[slot]->target != nullptr ? "relation" : "attribute";
      message += cat("\n\t* Missing ", kind, " '", name, "'. The ", kind, " ", entity.full_name,
                     ".", name, " is part of an index.");
    }
  return message;
}

bool hands_on(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::name:
    case ExprKind::attribute:
    case ExprKind::constructor:
    case ExprKind::comprehension:
    case ExprKind::conditional:
    case ExprKind::is_defined:
      return true;
    case ExprKind::binary:
      return as<Binary>(expr).op == Operator::and_ || as<Binary>(expr).op == Operator::or_;
    default:
      return false;
  }
}

std::string reported_in(const Program& program, const Expr* expr) {
  Place at = location_of(expr);
  if (expr->kind == ExprKind::conditional)
    at.is_exact = location_of(as<Conditional>(expr).condition).is_exact;
  return cat(describe(program, expr), " (", program.location(at), ")");
}
std::string reported_in(const Program& program, const Stmt* statement) {
  if (statement->kind == StmtKind::expression)
    return reported_in(program, as<ExprStmt>(statement).expression);
  return cat(describe(program, statement), " (", program.location(statement->at), ")");
}
std::string reported_in(const Program& program, const Instance* instance) {
  return cat(quoted(program, Datum::of(const_cast<Instance*>(instance))), " (",
             program.location(instance->at), ")");
}

}  // namespace fettle::model
