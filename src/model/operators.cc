#include "base/text.h"
#include "model/describe.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Step Machine::evaluate_logic(const Binary& node, Frame* frame, Datum& value) {
  const bool is_and = node.op == Operator::and_;
  Datum left;
  if (const Step step = evaluate(node.left, frame, left); step != Step::done)
    return step;
  if (left.tag != Tag::boolean && left.tag != Tag::unknown)
    return fail(node.at, cat("Invalid left hand value `", shown(program_, left), "`: `",
                             spelling(node.op), "` expects a boolean"),
                10);
  // An unknown on the left decides, too: the right hand side is not looked at.
  value = left;
  if (left.tag == Tag::unknown || left.boolean != is_and)
    return Step::done;
  Datum right;
  if (const Step step = evaluate(node.right, frame, right); step != Step::done)
    return step;
  if (right.tag != Tag::boolean && right.tag != Tag::unknown)
    return fail(node.at, cat("Invalid value '", shown(program_, right), "', expected bool"), 10);
  value = right;
  return Step::done;
}

std::string Machine::refused_operands(Operator op, const Datum& a, const Datum& b) const {
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

Step Machine::evaluate_binary(const Binary& node, Frame* frame, Datum& value) {
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
      return fail(node.at, cat("Operand two of 'in' can only be a list or dict (",
                               shown(program_, b), ")"),
                  10);
    value = Datum::of((a.tag == Tag::text && b.dict->find(a.view()) != nullptr) ==
                      (node.op == Operator::in));
    return Step::done;
  }
  if (node.op == Operator::equal || node.op == Operator::not_equal) {
    value = Datum::of(is_equal(a, b) == (node.op == Operator::equal));
    return Step::done;
  }
  if (node.op == Operator::add && a.tag == Tag::text && b.tag == Tag::text) {
    value = make_text(cat(a.view(), b.view()));
    return Step::done;
  }
  const bool is_comparison = node.op >= Operator::less && node.op <= Operator::greater_equal;
  if (!a.is_number() || !b.is_number())
    return fail(node.at,
                is_comparison ? "Can only compare numbers." : refused_operands(node.op, a, b), 10);
  const bool is_whole = a.tag != Tag::floating && b.tag != Tag::floating;
  const double x = as_float(a);
  const double y = as_float(b);
  const int64_t i = is_whole ? as_integer(a) : 0;
  const int64_t j = is_whole ? as_integer(b) : 0;
  int64_t whole = 0;
  bool overflows = false;
  switch (node.op) {
    case Operator::less:
      value = Datum::of(is_whole ? i < j : x < y);
      return Step::done;
    case Operator::less_equal:
      value = Datum::of(is_whole ? i <= j : x <= y);
      return Step::done;
    case Operator::greater:
      value = Datum::of(is_whole ? i > j : x > y);
      return Step::done;
    case Operator::greater_equal:
      value = Datum::of(is_whole ? i >= j : x >= y);
      return Step::done;
    case Operator::add:
      overflows = __builtin_add_overflow(i, j, &whole);
      value = Datum::of(x + y);
      break;
    case Operator::subtract:
      overflows = __builtin_sub_overflow(i, j, &whole);
      value = Datum::of(x - y);
      break;
    case Operator::multiply:
      overflows = __builtin_mul_overflow(i, j, &whole);
      value = Datum::of(x * y);
      break;
    case Operator::divide:
      if (y == 0)
        return fail(node.at, is_whole ? "division by zero" : "float division by zero");
      value = Datum::of(x / y);
      return Step::done;
    case Operator::modulo: {
      if (y == 0)
        return fail(node.at, is_whole ? "integer modulo by zero" : "float modulo by zero");
      if (is_whole)
        whole = j == -1 ? 0 : ((i % j) + j) % j;
      double rest = std::fmod(x, y);
      if (rest != 0 && (rest < 0) != (y < 0))
        rest += y;
      value = Datum::of(rest);
      break;
    }
    case Operator::power: {
      if (x == 0 && y < 0)
        return fail(node.at, "0.0 cannot be raised to a negative power");
      value = Datum::of(std::pow(x, y));
      if (!is_whole || j < 0)
        return Step::done;
      whole = 1;
      for (int64_t n = 0; n < j && !overflows && i != 1 && i != 0 && i != -1; ++n)
        overflows = __builtin_mul_overflow(whole, i, &whole);
      if (i == 0)
        whole = j == 0 ? 1 : 0;
      if (i == -1)
        whole = j % 2 == 0 ? 1 : -1;
      break;
    }
    default:
      break;
  }
  if (is_whole && overflows)
    return fail(node.at, cat("the result of `", spelling(node.op), "` is too large (64 bits)"));
  if (is_whole)
    value = Datum::of(whole);
  return Step::done;
}

}  // namespace fettle::model
