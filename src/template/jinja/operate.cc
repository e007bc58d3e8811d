/// Arithmetic and `%` formatting.

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "template/jinja/value.h"
#include "value/python.h"
#include "value/whole.h"

namespace fettle::jinja {
namespace {

constexpr int64_t longest = int64_t{1} << 26;
constexpr double widest_integer = 9e18;

Error unsupported(std::string_view op, const Value& a, const Value& b) {
  return raise("TypeError", cat("unsupported operand type(s) for ", op == "**" ? "** or pow()" : op,
                                ": '", type_name(a), "' and '", type_name(b), "'"));
}

/// Python's rules: the remainder has the sign of the divisor.
int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Whole numbers of any size.
Result<Value> large(std::string_view op, const Value& a, const Value& b) {
  using whole::Operation;
  const std::string left = digits_of(a).value(), right = digits_of(b).value();
  if ((op == "/" || op == "//" || op == "%") && right == "0")
    return raise("ZeroDivisionError",
                 op == "/" ? "division by zero" : "integer division or modulo by zero");
  if (op == "/" || (op == "**" && right.starts_with('-'))) {
    const double made = op == "/" ? whole::quotient(left, right)
                                  : std::pow(whole::to_real(left), whole::to_real(right));
    return std::isinf(made) ? Result<Value>(raise("OverflowError",
                                                  "integer division result too large for a float"))
                            : Result<Value>(Value(made));
  }
  const size_t digits = left.size() + right.size();
  constexpr auto most_digits = static_cast<double>(whole::most_digits);
  const bool is_too_long =
      op == "**" && static_cast<double>(left.size()) * whole::to_real(right) > 2 * most_digits;
  if (is_too_long || !Budget::current().spend(16 + digits / 2))
    return raise("OverflowError", "the result has too many digits");
  std::optional<std::string> made = whole::compute(op == "+"    ? Operation::add
                                                   : op == "-"  ? Operation::subtract
                                                   : op == "*"  ? Operation::multiply
                                                   : op == "%"  ? Operation::modulo
                                                   : op == "//" ? Operation::floor_divide
                                                                : Operation::power,
                                                   left, right);
  if (!made || made->size() > whole::most_digits)
    return raise("OverflowError", "the result has too many digits");
  return whole_value(std::move(*made));
}

Result<Value> divide(std::string_view op, const Value& a, const Value& b) {
  const bool is_real = a.is_real() || b.is_real();
  if (b.real() == 0)
    return raise("ZeroDivisionError",
                 op == "/" ? (is_real ? "float division by zero" : "division by zero")
                 : is_real ? (op == "%" ? "float modulo" : "float floor division by zero")
                           : "integer division or modulo by zero");
  if (op == "/")
    return Value(a.real() / b.real());
  if (!is_real && b.integer() == -1)
    return op == "%" ? Value(0) : operate("-", Value(0), a);
  if (!is_real)
    return op == "%" ? Value(a.integer() - floor_divide(a.integer(), b.integer()) * b.integer())
                     : Value(floor_divide(a.integer(), b.integer()));
  const double floor = std::floor(a.real() / b.real());
  if (op == "//")
    return Value(floor);
  const double rest = std::fmod(a.real(), b.real());
  return Value(rest != 0 && (rest < 0) != (b.real() < 0) ? rest + b.real() : rest);
}

Result<Value> power(const Value& a, const Value& b) {
  if (a.is_real() || b.is_real() || b.integer() < 0) {
    if (a.real() == 0 && b.real() < 0)
      return raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    if (a.real() < 0 && b.real() != std::floor(b.real()))
      return raise("ValueError", "a negative number to the power of a fraction is complex");
    const double made = std::pow(a.real(), b.real());
    if (std::isinf(made) && !std::isinf(a.real()) && !std::isinf(b.real()))
      return raise("OverflowError", "(34, 'Numerical result out of range')");
    return Value(made);
  }
  int64_t made = 1;
  if (b.integer() > 64 && (a.integer() > 1 || a.integer() < -1))
    return large("**", a, b);
  for (int64_t i = 0; i < std::min<int64_t>(b.integer(), 128); ++i)
    if (__builtin_mul_overflow(made, a.integer(), &made))
      return large("**", a, b);
  return Value(std::abs(a.integer()) == 1 && b.integer() % 2 == 0 ? int64_t{1} : made);
}

Result<Value> calculate(std::string_view op, const Value& a, const Value& b) {
  if (op == "/" || op == "//" || op == "%")
    return divide(op, a, b);
  if (op == "**")
    return power(a, b);
  if (a.is_real() || b.is_real())
    return Value(op == "+"   ? a.real() + b.real()
                 : op == "-" ? a.real() - b.real()
                             : a.real() * b.real());
  int64_t made = 0;
  const bool is_over = op == "+"   ? __builtin_add_overflow(a.integer(), b.integer(), &made)
                       : op == "-" ? __builtin_sub_overflow(a.integer(), b.integer(), &made)
                                   : __builtin_mul_overflow(a.integer(), b.integer(), &made);
  if (is_over)
    return large(op, a, b);
  return Value(made);
}

Result<Value> repeat(const Value& sequence, int64_t times) {
  times = std::max<int64_t>(times, 0);
  const int64_t size = sequence.is_text() ? static_cast<int64_t>(sequence.text().size())
                                          : static_cast<int64_t>(sequence.list().items.size());
  const int64_t of_an_item = sequence.is_text() ? 1 : int64_t{sizeof(Value)};
  if (size > 0 && times > longest / size / of_an_item)
    return raise("MemoryError", "the result is too long");
  Budget& budget = Budget::current();
  const auto bytes = static_cast<uint64_t>(size * times * of_an_item);
  if (!budget.spend(bytes / 32) || !budget.has_room(bytes))
    return budget_error(budget);
  if (sequence.is_text()) {
    std::string made;
    for (int64_t i = 0; i < times; ++i)
      made += sequence.text();
    return Value(std::move(made));
  }
  Items items;
  for (int64_t i = 0; size > 0 && i < times; ++i)
    items.insert(items.end(), sequence.list().items.begin(), sequence.list().items.end());
  return sequence.list().is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

/// One `%` directive: `%(name)-05.2f`.
struct Directive {
  std::optional<std::string> name;
  std::string spec;
  bool is_left = false;
  int precision = -1;
  char type = 0;
};

Result<std::string> show(const Directive& directive, const Value& value) {
  const std::string align = directive.is_left ? "<" : "";
  switch (directive.type) {
    case 's':
    case 'r':
    case 'a': {
      if (value.is_strictly_undefined())
        return undefined_error(value);
      std::string width = directive.spec;
      width.erase(0, std::min(width.find_first_not_of("+ 0"), width.size()));
      return python::format_text(
          directive.type == 's' ? text_of(value) : quoted(value),
          cat(directive.is_left ? "<" : ">", width,
              directive.precision >= 0 ? cat(".", directive.precision) : ""));
    }
    case 'd':
    case 'i':
    case 'u':
      if (!value.is_number())
        return raise("TypeError",
                     cat("%", std::string(1, directive.type),
                         " format: a real number is required, not ", type_name(value)));
      if (value.is_real() && !(std::fabs(value.real()) < widest_integer))
        return raise("OverflowError", "the number has more than 64 bits");
      return python::format_integer(
          value.is_real() ? static_cast<int64_t>(value.real()) : value.integer(),
          cat(align, directive.spec, "d"));
    case 'x':
    case 'X':
    case 'o':
      if (!value.is_whole())
        return raise("TypeError", cat("%", std::string(1, directive.type),
                                      " format: an integer is required, not ", type_name(value)));
      return python::format_integer(value.integer(),
                                    cat(align, directive.spec, std::string(1, directive.type)));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      if (!value.is_number())
        return raise("TypeError", cat("must be real number, not ", type_name(value)));
      return python::format_real(
          value.real(),
          cat(align, directive.spec, directive.precision >= 0 ? cat(".", directive.precision) : "",
              std::string(1, directive.type)));
    case 'c':
      return value.is_text() ? value.text()
                             : python::format_integer(value.is_whole() ? value.integer() : 0, "c");
    default:
      return raise("ValueError",
                   cat("unsupported format character '", std::string(1, directive.type), "'"));
  }
}

/// Reads what follows a `%`; `at` is moved behind it.
Result<Directive> read_directive(std::string_view format, size_t& at) {
  Directive made;
  if (at < format.size() && format[at] == '(') {
    const size_t end = format.find(')', at);
    if (end == format.npos)
      return raise("ValueError", "incomplete format key");
    made.name = std::string(format.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  bool has_zero = false;
  for (; at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos;
       ++at) {
    made.is_left |= format[at] == '-';
    has_zero |= format[at] == '0';
    if (format[at] == '+' || (format[at] == ' ' && made.spec.empty()))
      made.spec = format[at];
    if (format[at] == '#')
      made.spec += "#";
  }
  if (has_zero && !made.is_left)
    made.spec += "0";
  while (at < format.size() && std::isdigit(static_cast<unsigned char>(format[at])))
    made.spec += format[at++];
  if (at < format.size() && format[at] == '.') {
    made.precision = 0;
    for (++at; at < format.size() && std::isdigit(static_cast<unsigned char>(format[at])) &&
               made.precision < 10'000;
         ++at)
      made.precision = made.precision * 10 + (format[at] - '0');
  }
  while (at < format.size() && std::string_view("hlL").find(format[at]) != std::string_view::npos)
    ++at;
  if (at >= format.size())
    return raise("ValueError", "incomplete format");
  made.type = format[at++];
  return made;
}

}  // namespace

Result<Value> operate(std::string_view op, const Value& a, const Value& b) {
  if (a.is_undefined())
    return undefined_error(a);
  if (op == "%" && a.is_text())
    return format_percent(a.text(), b);
  if (b.is_undefined())
    return undefined_error(b);
  if (a.is_number() && b.is_number())
    return calculate(op, a, b);
  if (digits_of(a) && digits_of(b))
    return large(op, a, b);
  if (digits_of(a) && b.is_real())
    return calculate(op, Value(whole::to_real(*digits_of(a))), b);
  if (digits_of(b) && a.is_real())
    return calculate(op, a, Value(whole::to_real(*digits_of(b))));
  if (op == "+") {
    if (a.is_text() && b.is_text()) {
      if (static_cast<int64_t>(a.text().size() + b.text().size()) > longest)
        return raise("MemoryError", "the result is too long");
      std::string made;
      if (Status status = add(made, a.text()); !status)
        return status.error();
      if (Status status = add(made, b.text()); !status)
        return status.error();
      return Value(std::move(made));
    }
    if (a.is_list() && b.is_list() && a.list().is_tuple == b.list().is_tuple) {
      const size_t size = a.list().items.size() + b.list().items.size();
      Budget& budget = Budget::current();
      if (size * sizeof(Value) > static_cast<size_t>(longest))
        return raise("MemoryError", "the result is too long");
      if (!budget.spend(size / 4) || !budget.has_room(size * sizeof(Value)))
        return budget_error(budget);
      Items items = a.list().items;
      items.insert(items.end(), b.list().items.begin(), b.list().items.end());
      return a.list().is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
    }
    if (a.is_text())
      return raise("TypeError",
                   cat("can only concatenate str (not \"", type_name(b), "\") to str"));
    if (a.is_list())
      return raise("TypeError", cat("can only concatenate ", type_name(a), " (not \"", type_name(b),
                                    "\") to ", type_name(a)));
  }
  if (op == "*") {
    if ((a.is_text() || a.is_list()) && b.is_whole())
      return repeat(a, b.integer());
    if ((b.is_text() || b.is_list()) && a.is_whole())
      return repeat(b, a.integer());
    if ((a.is_text() || a.is_list()) || (b.is_text() || b.is_list()))
      return raise("TypeError", cat("can't multiply sequence by non-int of type '",
                                    type_name(a.is_text() || a.is_list() ? b : a), "'"));
  }
  return unsupported(op, a, b);
}

Result<Value> format_percent(std::string_view format, const Value& values) {
  const bool is_tuple = values.is_list() && values.list().is_tuple;
  size_t next = 0;
  std::string made;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      made.push_back(format[at++]);
      continue;
    }
    ++at;
    if (at < format.size() && format[at] == '%') {
      made.push_back(format[at++]);
      continue;
    }
    const Directive directive = TRY(read_directive(format, at));
    Value value = values;
    if (directive.name) {
      if (!values.is_dict())
        return raise("TypeError", "format requires a mapping");
      const Value* found = values.dict_data().find(Value(*directive.name));
      if (found == nullptr)
        return raise("KeyError", python::quoted(*directive.name));
      value = *found;
    } else {
      if (is_tuple ? next >= values.list().items.size() : next > 0)
        return raise("TypeError", "not enough arguments for format string");
      if (is_tuple)
        value = values.list().items[next];
      ++next;
    }
    if (Status status = add(made, TRY(show(directive, value))); !status)
      return status.error();
  }
  const size_t given = is_tuple ? values.list().items.size() : values.is_dict() ? next : 1;
  // Python takes what has items for a mapping, of which nothing need be used.
  const bool has_items = (values.is_list() && !is_tuple) || values.is_undefined();
  if (next < given && !has_items)
    return raise("TypeError", "not all arguments converted during string formatting");
  return Value(std::move(made));
}

}  // namespace fettle::jinja
