/// Finds what names stand for, once, before anything runs: variables of blocks, attributes of
/// `self`, variables of namespaces. A name that stands for nothing fails only when it is read.

#include "model/resolve/resolve.h"

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"
#include "model/resolve/walk.h"

namespace fettle::model {

void Walk::expression(const Expr* expr, const Level* level, const Attribute* to) {
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
      as<AttributeRef>(expr).is_in_type = standing_.is_in_type;
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

void Walk::arguments(std::span<const Argument> arguments, const Level* level) {
  for (const Argument& argument : arguments)
    expression(argument.value, level);
}

void Walk::call(const Call& node, const Level* level) {
  const std::string& function = program_.symbols.name(node.function.name);
  const bool is_plain = node.function.space.empty();
  // Names of types come first: to look for a plugin may start Python.
  const bool is_cast =
      is_plain && (function == "int" || function == "float" || function == "number" ||
                   function == "string" || function == "bool");
  if (is_cast)
    return arguments(node.arguments, level);
  Space* from = is_plain ? &space_ : program_.imported(space_, node.function.space);
  node.plugin = from == nullptr ? nullptr : find_plugin(program_, *from, function);
  // A module's plugins are known by their bare names in its submodules, as its types are.
  for (Space* outer = is_plain ? program_.enclosing(space_) : nullptr;
       outer != nullptr && node.plugin == nullptr; outer = program_.enclosing(*outer))
    if ((node.plugin = find_plugin(program_, *outer, function)) != nullptr)
      from = outer;
  if (node.plugin != nullptr && from->name == "std" && function == "template")
    visible(node, level);
  arguments(node.arguments, level);
  if (node.plugin != nullptr || !failures_.empty())
    return;
  const bool is_type = (is_plain && function == "list") ||
                       (from != nullptr && (from->typedefs.contains(node.function.name) ||
                                            from->implementations.contains(node.function.name)));
  if (!is_type)
    return not_found(node.function);
  fail(node.at,
       cat("Can not call '", program_.text(node.function),
           "', can only call plugin or primitive type cast"),
       reported_in(program_, static_cast<const Expr*>(&node)), Importance::typing);
}

void Walk::fail(Place at, std::string message, std::string reported, Importance importance) {
  Failure made{program_.error_at(at, ""), importance};
  made.reasons.push_back({std::move(message), std::move(reported)});
  failures_.push_back(std::move(made));
}

void Walk::fail_in_statement(Place at, const std::string& message, Importance importance) {
  at.is_exact = 1;
  const std::string where = cat(" (", program_.location(at), ")");
  if (!standing_.reporter.empty())
    fail(at, message, cat(standing_.reporter, where), importance);
  else if (statement_ != nullptr)
    fail(at, message, cat(describe(program_, statement_), where), importance);
  else
    fail(at, cat(message, where), "", importance);
}

void Walk::not_found(const QualifiedName& name) {
  fail_in_statement(name.at, program_.not_found(space_, name), Importance::not_found);
  failures_.back().meant = meant_type(program_, space_, name);
}

void resolve_program(Program& program, const std::function<void(const Error&)>& warn,
                     std::vector<Failure>& failures) {
  for (Space& space : program.spaces)
    space.variables =
        Walk(program, space, nullptr, failures, warn).variables(*space.unit.body, nullptr);
  const Symbol self = program.symbols.intern("self");
  for (Space& space : program.spaces) {
    for (const TypedefDefinition* definition : space.unit.typedefs) {
      const Level level{nullptr, {{self, Variable()}}};
      Walk(program, space, nullptr, failures, warn, {.is_in_type = true, .reporter = {}})
          .expression(definition->condition, &level);
    }
    for (const RelationDefinition* definition : space.unit.relations)
      for (const Expr* annotation : definition->annotations) {
        Walk walk(program, space, nullptr, failures, warn,
                  {.is_in_type = false,
                   .reporter = cat("Relation(", program.text(definition->left), ", ",
                                   program.text(definition->right), ")")});
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
  // The names of a root block are global, so its own level stays out of the way.
  for (Space& space : program.spaces)
    Walk(program, space, nullptr, failures, warn).block(*space.unit.body, nullptr, nullptr);
  if (failures.size() > 1)
    failures.resize(1);
}

}  // namespace fettle::model
