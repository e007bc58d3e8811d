#include "model/resolve/needs.h"

#include <algorithm>

#include "model/program/describe.h"

namespace fettle::model {

/// `reader`: the expression that computes with them.
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

namespace {

/// A reader that takes the elements of a list one by one reads them itself.
void collect_gradually(const Expr* expr, std::vector<Need>& needs) {
  if (expr->kind != ExprKind::list)
    return collect_needs(expr, nullptr, needs);
  for (const Expr* item : as<ListExpr>(expr).items)
    collect_gradually(item, needs);
}

}  // namespace

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

}  // namespace fettle::model
