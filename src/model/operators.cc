#include <regex.h>

#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Step Machine::evaluate_logic(const Binary& node, Frame* frame, Datum& value) {
  const bool is_and = node.op == Operator::and_;
  Datum left;
  if (const Step step = evaluate(node.left, frame, left); step != Step::done)
    return step;
  if (left.tag != Tag::boolean && left.tag != Tag::unknown)
    return fail(node.at, cat("Invalid left hand value ", quoted(program_, left), ": `",
                             spelling(node.op), "` expects a boolean"));
  value = left;
  if (left.tag == Tag::boolean && left.boolean != is_and)
    return Step::done;
  Datum right;
  if (const Step step = evaluate(node.right, frame, right); step != Step::done)
    return step;
  if (right.tag != Tag::boolean && right.tag != Tag::unknown)
    return fail(node.at, cat("Invalid right hand value ", quoted(program_, right), ": `",
                             spelling(node.op), "` expects a boolean"));
  const bool decides = right.tag == Tag::boolean && right.boolean != is_and;
  if (left.tag == Tag::boolean || decides)
    value = right;
  return Step::done;
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
                               quoted(program_, b), ")"));
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
    return fail(node.at, is_comparison
                             ? std::string("Can only compare numbers.")
                             : cat("Invalid operands for `", spelling(node.op),
                                   "`: ", quoted(program_, a), " and ", quoted(program_, b)));
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
        return fail(node.at, "division by zero");
      value = Datum::of(x / y);
      return Step::done;
    case Operator::modulo: {
      if (y == 0)
        return fail(node.at, "integer modulo by zero");
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

bool Machine::match(const Typedef& constraint, const Datum& value, std::string& why) {
  if (!accepts(constraint.base, value, why))
    return false;
  if (value.tag == Tag::unknown)
    return true;
  bool is_good = false;
  if (constraint.condition->kind == ExprKind::regex) {
    regex_t compiled;
    const std::string pattern = cat("^(", as<Regex>(constraint.condition).pattern, ")");
    if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {
      is_good = regexec(&compiled, text_of(program_, value).c_str(), 0, nullptr, 0) == 0;
      regfree(&compiled);
    }
  } else {
    Frame* frame = new_frame(nullptr, nullptr, 1);
    frame->cells[0].value = value;
    Datum result;
    Task probe;
    Task* const before = current_;
    current_ = &probe;
    const Step step = evaluate(constraint.condition, frame, result);
    current_ = before;
    is_good = step == Step::done && result.tag == Tag::boolean && result.boolean;
    failure_.reset();
  }
  if (!is_good)
    why = cat("Invalid value ", quoted(program_, value), ", does not match constraint `",
              constraint_text(program_, constraint.condition), "`");
  return is_good;
}

bool Machine::accepts(const Type& type, const Datum& value, std::string& why) {
  if (value.tag == Tag::unknown || (value.tag == Tag::null && type.is_nullable) ||
      type.base == Base::any)
    return true;
  const auto refuse = [&] {
    why = cat("Invalid value '", value.tag == Tag::null ? "null" : text_of(program_, value),
              "', expected ", type.name);
    return false;
  };
  if (type.is_list) {
    if (value.tag != Tag::list)
      return refuse();
    Type item = type;
    item.is_list = item.is_nullable = false;
    item.name = type.name.substr(0, type.name.find('['));
    for (const Datum& one : value.list->items)
      if (!accepts(item, one, why))
        return false;
    return true;
  }
  bool is_good = false;
  switch (type.base) {
    case Base::any:
      is_good = true;
      break;
    case Base::string:
      is_good = value.tag == Tag::text;
      break;
    case Base::integer:
      is_good = value.tag == Tag::integer || value.tag == Tag::boolean;
      break;
    case Base::floating:
      is_good = value.tag == Tag::floating;
      break;
    case Base::boolean:
      is_good = value.tag == Tag::boolean;
      break;
    case Base::number:
      is_good = value.is_number();
      break;
    case Base::list:
      is_good = value.tag == Tag::list;
      break;
    case Base::dict:
      is_good = value.tag == Tag::dict;
      break;
    case Base::constrained:
      return match(*type.constraint, value, why);
  }
  return is_good || refuse();
}

}  // namespace fettle::model
