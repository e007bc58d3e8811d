#include "base/text.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/make_value.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"
#include "model/values/numbers.h"

namespace fettle::model {

Step Evaluator::evaluate_logic(const Binary& node, Frame* frame, Datum& value) {
  const bool is_and = node.op == Operator::and_;
  Datum left;
  if (const Step step = evaluate(node.left, frame, left); step != Step::done)
    return step;
  if (left.tag != Tag::boolean && left.tag != Tag::unknown)
    return errors_.fail(node.at,
                        cat("Invalid left hand value `", shown(program_, left), "`: `",
                            spelling(node.op), "` expects a boolean"),
                        Importance::typing);
  // An unknown on the left decides, too: the right side is not looked at.
  value = left;
  if (left.tag == Tag::unknown || left.boolean != is_and)
    return Step::done;
  Datum right;
  if (const Step step = evaluate(node.right, frame, right); step != Step::done) {
    if (step == Step::fail)
      errors_.tell_if(Teller::reader, reported_in(program_, static_cast<const Expr*>(&node)));
    return step;
  }
  if (right.tag != Tag::boolean && right.tag != Tag::unknown)
    return errors_.fail(node.at,
                        right.tag == Tag::reference
                            ? no_reference_text("bool")
                            : cat("Invalid value '", shown(program_, right), "', expected bool"),
                        Importance::typing);
  value = right;
  return Step::done;
}

std::string Evaluator::refused_operands(Operator op, const Datum& a, const Datum& b) const {
  if (op == Operator::add && a.tag == Tag::text)
    return cat("Can only concatenate str (not '", raw_type(b), "' (", quoted(program_, b),
               ")) to str");
  const std::string_view name = op == Operator::add        ? "plus"
                                : op == Operator::subtract ? "minus"
                                : op == Operator::multiply ? "multiplication"
                                : op == Operator::divide   ? "division"
                                : op == Operator::modulo   ? "modulo"
                                                           : "exponentiation";
  return cat("Unsupported operand type(s) for ", name, ": '", raw_type(a), "' (",
             quoted(program_, a), ") and '", raw_type(b), "' (", quoted(program_, b), ")");
}

Step Evaluator::evaluate_binary(const Binary& node, Frame* frame, Datum& value) {
  if (node.op == Operator::and_ || node.op == Operator::or_)
    return evaluate_logic(node, frame, value);
  Datum a;
  Datum b;
  const Step first = evaluate(node.left, frame, a);
  if (first == Step::fail)
    return first;
  const Step second = evaluate(node.right, frame, b);
  if (second == Step::fail || first == Step::wait || second == Step::wait)
    return second == Step::fail ? second : Step::wait;
  const bool is_in = node.op == Operator::in || node.op == Operator::not_in;
  if (is_in && b.tag == Tag::list) {
    bool has_unknown = a.tag == Tag::unknown;
    bool found = false;
    if (!budget().spend(b.list->items.size() / 8))
      return errors_.fail_budget();
    for (const Datum& item : b.list->items) {
      found |= a.tag != Tag::unknown && is_equal(a, item);
      has_unknown |= item.tag == Tag::unknown;
    }
    value =
        !found && has_unknown ? Datum::unknown() : Datum::of(found == (node.op == Operator::in));
    return Step::done;
  }
  if (a.tag == Tag::unknown || b.tag == Tag::unknown) {
    value = Datum::unknown();
    return Step::done;
  }
  if (is_in) {
    if (b.tag != Tag::dict)
      return errors_.fail(
          node.at, cat("Operand two of 'in' can only be a list or dict (", shown(program_, b), ")"),
          Importance::typing);
    value = Datum::of((a.tag == Tag::text && b.dict->find(a.view()) != nullptr) ==
                      (node.op == Operator::in));
    return Step::done;
  }
  if (node.op == Operator::equal || node.op == Operator::not_equal) {
    value = Datum::of(is_equal(a, b) == (node.op == Operator::equal));
    return Step::done;
  }
  if (node.op == Operator::add && a.tag == Tag::text && b.tag == Tag::text) {
    if (!budget().has_room(2 * (a.view().size() + b.view().size())))
      return errors_.fail_budget();
    value = make_text(program_, cat(a.view(), b.view()));
    return Step::done;
  }
  const bool is_comparison = node.op >= Operator::less && node.op <= Operator::greater_equal;
  if (!a.is_number() || !b.is_number())
    return errors_.fail(
        node.at, is_comparison ? "Can only compare numbers." : refused_operands(node.op, a, b),
        Importance::typing);
  if (is_comparison) {
    const std::partial_ordering order = order_of(a, b);
    value = Datum::of(node.op == Operator::less         ? order < 0
                      : node.op == Operator::less_equal ? order <= 0
                      : node.op == Operator::greater    ? order > 0
                                                        : order >= 0);
    return Step::done;
  }
  std::string error;
  return compute(program_.arena, node.op, a, b, value, error) ? Step::done
                                                              : errors_.fail(node.at, error);
}

}  // namespace fettle::model
