/// `%` and `format`, with starlark-go's messages.

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"

namespace fettle::starlark {
namespace {

/// A text that grows within the memory limit.
class Output {
 public:
  explicit Output(Vm& vm) : scratch_(vm), text(scratch_.text), vm_(vm) {}

 private:
  Scratch scratch_;

 public:
  std::string& text;

  bool add(std::string_view more) {
    text += more;
    return check();
  }
  bool str(Value v) {
    if (v.is_small()) {
      char digits[24];
      const auto [end, ignored] = std::to_chars(digits, digits + sizeof digits, v.small());
      text.append(digits, end);
      return true;
    }
    if (is_text(v)) {
      text += view_of(v);
      return check();
    }
    return repr(v);
  }
  bool repr(Value v) { return write_repr(vm_, text, v) && check(); }
  Value finish() {
    if (!vm_.charge(2 + text.size() / 32))
      return Value::error();
    const Value made = make_text(vm_.heap(), text);
    return made.is_error() ? vm_.fail_memory() : made;
  }

 private:
  bool check() {
    if (text.size() > checked_ + 65536) {
      checked_ = text.size();
      if (!vm_.heap().may_take(text.size() * 6)) {
        vm_.fail_memory();
        return false;
      }
    }
    return true;
  }
  Vm& vm_;
  size_t checked_ = 0;
};

std::string go_float(double x, char verb) {
  if (!std::isfinite(x) || verb == 'g' || verb == 'G') {
    std::string text = float_text(x);
    if (verb == 'G') {
      for (char& c : text)
        c = static_cast<char>(c == 'e' ? 'E' : c);
    }
    return text;
  }
  char digits[512];
  const bool fixed = verb == 'f' || verb == 'F';
  const auto [end, ignored] =
      std::to_chars(digits, digits + sizeof digits, x,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific, 6);
  std::string text(digits, end);
  if (verb == 'E')
    text[text.find('e')] = 'E';
  return text;
}

/// Turns any number into an integer; floats are truncated.
bool number_to_integer(Vm& vm, Value v, char verb, Value& integer) {
  if (is_int(v)) {
    integer = v;
    return charge_digits(vm, v);
  }
  if (is_float(v)) {
    if (float_to_integer(vm.heap(), float_of(v), integer))
      return vm.charge(std::fabs(float_of(v)) < 1 ? 1 : u64(std::ilogb(float_of(v))) / 32 + 1);
    vm.fail_with("%", verb, " format requires integer: cannot convert float ",
                 std::isnan(float_of(v)) ? "NaN" : "infinity", " to integer");
    return false;
  }
  vm.fail_with("%", verb, " format requires integer: cannot convert ", type_name_of(v), " to int");
  return false;
}

/// `%e`, `%f` and `%g`.
bool write_real(Vm& vm, Output& out, char verb, Value argument) {
  double x = 0;
  vm.ticks -= 4;
  if (is_float(argument)) {
    x = float_of(argument);
  } else if (is_int(argument)) {
    x = integer_to_double(argument);
    if (std::isinf(x)) {
      vm.fail("int too large to convert to float");
      return false;
    }
  } else {
    vm.fail_with("%", verb, " format requires float, not ", type_name_of(argument));
    return false;
  }
  const std::string text = go_float(x, verb);
  vm.ticks -= i64(text.size() / 32);
  return out.add(text);
}

/// `%c`.
bool write_letter(Vm& vm, Output& out, Value argument) {
  if (is_int(argument)) {
    int64_t n = -1;
    if (!to_int64(argument, n) || n < 0 || n > 0x10FFFF) {
      vm.fail_with("%c format requires a valid Unicode code point, got ",
                   integer_text(vm, argument));
      return false;
    }
    append_utf8(out.text, u32(n));
    return true;
  }
  if (!is_text(argument)) {
    vm.fail_with("%c format requires int or single-character string, not ", type_name_of(argument));
    return false;
  }
  size_t length = 0;
  const std::string_view text = view_of(argument);
  if (!text.empty())
    decode(text, length);
  if (text.empty() || length != text.size()) {
    vm.fail("%c format requires a single-character string");
    return false;
  }
  return out.add(text);
}

bool write_verb(Vm& vm, Output& out, char verb, Value argument) {
  switch (verb) {
    case 's':
      return out.str(argument);
    case 'r':
      return out.repr(argument);
    case 'd':
    case 'i':
      if (argument.is_small())
        return out.str(argument);
      [[fallthrough]];
    case 'o':
    case 'x':
    case 'X': {
      Value integer;
      if (!number_to_integer(vm, argument, verb, integer))
        return false;
      const int radix = verb == 'o' ? 8 : (verb | 32) == 'x' ? 16 : 10;
      std::string digits = integer_text(vm, integer, radix);
      if (verb == 'X') {
        for (char& c : digits)
          c = static_cast<char>(c >= 'a' ? c - 32 : c);
      }
      return !vm.failed && out.add(digits);
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return write_real(vm, out, verb, argument);
    case 'c':
      return write_letter(vm, out, argument);
    default: {
      std::string shown;
      append_utf8(shown, static_cast<uint8_t>(verb));
      vm.fail_with("unknown conversion %", shown);
      return false;
    }
  }
}

}  // namespace

Value percent_format(Vm& vm, Value format, Value values) {
  Output out(vm);
  std::string_view rest = view_of(format);
  const bool tuple = is_tuple(values);
  const size_t count = tuple ? values.object()->count : 1;
  size_t next = 0;
  for (;;) {
    const size_t percent = rest.find('%');
    if (!out.add(rest.substr(0, percent)))
      return Value::error();
    if (percent == std::string_view::npos)
      break;
    rest.remove_prefix(percent + 1);
    if (rest.starts_with('%')) {
      out.text += '%';
      rest.remove_prefix(1);
      continue;
    }
    Value argument;
    if (rest.starts_with('(')) {
      const size_t end = rest.find(')');
      if (end == std::string_view::npos)
        return vm.fail("incomplete format key");
      const std::string_view key = rest.substr(1, end - 1);
      if (!is_dict(values))
        return vm.fail("format requires a mapping");
      const Value text = make_text(vm.heap(), key);
      const TableEntry* entry = table_find_text(as<Dict>(values), text, hash_of_text(text));
      if (entry == nullptr)
        return vm.fail_with("key not found: ", key);
      argument = entry->value;
      rest.remove_prefix(end + 1);
    } else {
      if (next >= count)
        return vm.fail("not enough arguments for format string");
      argument = tuple ? as<Tuple>(values)->items()[next] : values;
    }
    if (rest.empty())
      return vm.fail("incomplete format");
    if (rest[0] == '%') {  // behind a key
      out.text += '%';
      rest.remove_prefix(1);
      ++next;
      continue;
    }
    if (!vm.charge(2) || !write_verb(vm, out, rest[0], argument))
      return Value::error();
    rest.remove_prefix(1);
    ++next;
  }
  // Not every entry of a dict has to be used. In 2023, one had to be.
  if (next < count && (!is_dict(values) || vm.dialect().profile == Profile::kurtosis))
    return vm.fail("too many arguments for format string");
  return out.finish();
}

namespace {

/// The text between braces: `NAME!CONVERSION:SPEC`.
struct Field {
  std::string_view name;
  std::string_view conversion;
  std::string_view spec;
  Field(std::string_view text, bool plain) : name(text), conversion("s") {
    if (plain)
      return;
    const size_t bang = text.find('!');
    const std::string_view tail = bang == text.npos ? text : text.substr(bang + 1);
    const size_t colon = tail.find(':');
    name = text.substr(0, bang == text.npos ? colon : bang);
    if (bang != text.npos)
      conversion = tail.substr(0, colon);
    if (colon != tail.npos)
      spec = tail.substr(colon + 1);
  }
};

/// Which argument a field means.
class FieldArguments {
 public:
  FieldArguments(Vm& vm, const Arguments& arguments) : vm_(vm), arguments_(arguments) {}

  /// Error: there is none.
  Value argument(std::string_view name, bool is_number) {
    if (name.empty())
      return next();
    return is_number ? numbered(name) : named(name);
  }

 private:
  Value next() {
    if (is_manual_)
      return vm_.fail(
          "format: cannot switch from manual field specification to automatic field numbering");
    is_automatic_ = true;
    return positional(next_++);
  }

  Value numbered(std::string_view name) {
    if (is_automatic_)
      return vm_.fail(
          "format: cannot switch from automatic field numbering to manual field specification");
    is_manual_ = true;
    uint64_t index = 0;
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (problem != std::errc())
      return vm_.fail_with("format: keyword ", name, " not found");
    return positional(index);
  }

  Value positional(uint64_t index) {
    return index < arguments_.count ? arguments_.positional[index]
                                    : vm_.fail("format: tuple index out of range");
  }

  Value named(std::string_view name) {
    Value argument = Value::unset();
    for (uint32_t i = 0; i < arguments_.named_count; ++i)
      if (view_of(arguments_.names[i]) == name)
        argument = arguments_.named[i];
    if (!argument.is_unset())
      return argument;
    if (name.find('.') != std::string_view::npos)
      return vm_.fail_with("format: attribute syntax x.y is not supported in replacement fields: ",
                           name);
    if (name.find('[') != std::string_view::npos)
      return vm_.fail_with("format: element syntax a[i] is not supported in replacement fields: ",
                           name);
    if (name.find('{') != std::string_view::npos)
      return vm_.fail("format: nested replacement fields not supported");
    return vm_.fail_with("format: keyword ", name, " not found");
  }

  Vm& vm_;
  const Arguments& arguments_;
  bool is_automatic_ = false;
  bool is_manual_ = false;
  uint64_t next_ = 0;
};

/// Text between fields, in which `}}` stands for one; false with an error.
bool add_literal(Vm& vm, Output& out, std::string_view literal) {
  for (;;) {
    const size_t close = literal.find('}');
    if (close == std::string_view::npos)
      return out.add(literal);
    if (close + 1 == literal.size() || literal[close + 1] != '}') {
      vm.fail("format: single '}' in format");
      return false;
    }
    out.add(literal.substr(0, close + 1));
    literal.remove_prefix(close + 2);
  }
}

}  // namespace

Value braces_format(Vm& vm, const Arguments& arguments) {
  Output out(vm);
  FieldArguments fields(vm, arguments);
  std::string_view rest = view_of(arguments.self);
  for (;;) {
    const size_t brace = rest.find('{');
    if (!add_literal(vm, out, rest.substr(0, brace)))
      return Value::error();
    if (brace == std::string_view::npos)
      break;
    rest.remove_prefix(brace + 1);
    if (rest.starts_with('{')) {
      out.text += '{';
      rest.remove_prefix(1);
      continue;
    }
    size_t end = 0;
    bool plain = true, number = true;  // most fields are a name, a number or nothing
    for (; end < rest.size() && rest[end] != '}'; ++end) {
      plain = plain && rest[end] != '!' && rest[end] != ':';
      number = number && rest[end] >= '0' && rest[end] <= '9';
    }
    if (end == rest.size())
      return vm.fail("format: unmatched '{' in format");
    const Field field(rest.substr(0, end), plain);
    rest.remove_prefix(end + 1);
    if (!plain)
      number = field.name.find_first_not_of("0123456789") == std::string_view::npos;
    if (!vm.charge(2))
      return Value::error();
    const Value argument = fields.argument(field.name, number);
    if (argument.is_error())
      return Value::error();
    if (!field.spec.empty())
      return vm.fail_with("format spec features not supported in replacement fields: ", field.spec);
    if (plain || field.conversion == "s") {
      if (!out.str(argument))
        return Value::error();
    } else if (field.conversion == "r") {
      if (!out.repr(argument))
        return Value::error();
    } else {
      return vm.fail_with("format: unknown conversion \"", field.conversion, "\"");
    }
  }
  return out.finish();
}

}  // namespace fettle::starlark
