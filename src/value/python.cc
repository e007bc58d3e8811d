#include "value/python.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include <utf8proc.h>

#include "base/budget.h"
#include "base/text.h"
#include "value/json.h"
#include "value/whole.h"

namespace fettle::python {
namespace {

constexpr size_t widest = 100'000;
constexpr int deepest_spec = 2;

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`
struct Spec {
  std::string fill = " ";
  char align = 0;
  char sign = '-';
  bool is_alternate = false;
  size_t width = 0;
  char grouping = 0;
  int precision = -1;
  char type = 0;
};

size_t point_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

size_t count_points(std::string_view text) {
  size_t points = 0;
  for (const char c : text)
    points += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return points;
}

class SpecReader {
 public:
  SpecReader(std::string_view text, std::string_view type_name)
      : text_(text), type_name_(type_name) {}

  Result<Spec> read() {
    Spec spec;
    read_alignment(spec);
    if (at_ < text_.size() && std::string_view("+- ").find(text_[at_]) != std::string_view::npos)
      spec.sign = text_[at_++];
    spec.is_alternate = take('#');
    if (take('0') && spec.align == 0) {
      spec.fill = "0";
      spec.align = type_name_ == "str" ? '<' : '=';
    }
    if (!number(spec.width))
      return user_error("ValueError: Too many decimal digits in format string");
    if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == '_'))
      spec.grouping = text_[at_++];
    if (take('.')) {
      size_t precision = 0;
      const size_t start = at_;
      if (!number(precision))
        return user_error("ValueError: Too many decimal digits in format string");
      if (at_ == start)
        return user_error("ValueError: Format specifier missing precision");
      spec.precision = static_cast<int>(precision);
    }
    if (at_ < text_.size())
      spec.type = text_[at_++];
    if (at_ < text_.size())
      return user_error(cat("ValueError: Invalid format specifier '", text_,
                            "' for object of type '", type_name_, "'"));
    return spec;
  }

 private:
  static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }
  void read_alignment(Spec& spec) {
    const size_t first = text_.empty() ? 0 : point_length(text_[0]);
    if (first < text_.size() && is_align(text_[first])) {
      spec.fill = text_.substr(0, first);
      spec.align = text_[first];
      at_ = first + 1;
    } else if (!text_.empty() && is_align(text_[0])) {
      spec.align = text_[0];
      at_ = 1;
    }
  }
  bool take(char c) {
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    at_ += is_there;
    return is_there;
  }
  bool number(size_t& value) {
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if ((value = value * 10 + static_cast<size_t>(text_[at_] - '0')) > widest)
        return false;
    return true;
  }

  std::string_view text_;
  std::string_view type_name_;
  size_t at_ = 0;
};

std::string padded(std::string_view sign, std::string body, const Spec& spec, char otherwise) {
  const size_t length = count_points(sign) + count_points(body);
  const size_t missing = spec.width > length ? spec.width - length : 0;
  const char align = spec.align != 0 ? spec.align : otherwise;
  const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string made;
  if (align == '=')
    made += sign;
  for (size_t i = 0; i < before; ++i)
    made += spec.fill;
  if (align != '=')
    made += sign;
  made += body;
  for (size_t i = before; i < missing; ++i)
    made += spec.fill;
  return made;
}

/// Separators between groups of the digits before the point. Zeros that pad are grouped as well.
std::string grouped(std::string digits, const Spec& spec, size_t size, size_t sign_length) {
  if (spec.grouping == 0)
    return digits;
  const size_t end = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string whole = digits.substr(0, end);
  const std::string rest = digits.substr(end);
  const bool pads = spec.fill == "0" && spec.align == '=';
  const auto length = [&] {
    return whole.size() + (whole.size() - 1) / size + rest.size() + sign_length;
  };
  while (pads && !whole.empty() && length() < spec.width)
    whole.insert(0, 1, '0');
  std::string made;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (i > 0 && (whole.size() - i) % size == 0)
      made.push_back(spec.grouping);
    made.push_back(whole[i]);
  }
  return made + rest;
}

std::string sign_of(bool is_negative, const Spec& spec) {
  return is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

Error unknown_code(char type, std::string_view type_name) {
  return user_error(cat("ValueError: Unknown format code '", std::string(1, type),
                        "' for object of type '", type_name, "'"));
}

std::string exponent_of(double number, int precision, char type) {
  char buffer[512];
  const char form[] = {'%', '.', '*', type, 0};
  std::snprintf(buffer, sizeof buffer, form, precision, number);
  return buffer;
}

constexpr int most_precise = 330;

std::string real_body(double size, const Spec& spec) {
  const int precision = std::min(spec.precision < 0 ? 6 : spec.precision, most_precise);
  std::string digits(700, '\0');
  const auto printed = [&](const char* form, double number) {
    const int length = std::snprintf(digits.data(), digits.size(), form, precision, number);
    return digits.substr(0, static_cast<size_t>(std::max(length, 0)));
  };
  switch (spec.type) {
    case 'f':
    case 'F':
      return printed("%.*f", size);
    case '%':
      return cat(printed("%.*f", size * 100), "%");
    case 'e':
    case 'E':
      return exponent_of(size, precision, spec.type);
    case 0:
      if (spec.precision < 0)
        return real_text(size);
      [[fallthrough]];
    default: {
      const bool is_upper = spec.type == 'G';
      std::string made = exponent_of(size, precision, is_upper ? 'G' : 'g');
      if (spec.type == 0 && made.find_first_of(".e") == std::string::npos)
        made += ".0";
      return made;
    }
  }
}

}  // namespace

std::string real_text(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char buffer[400];
  const double size = std::fabs(number);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (is_plain && text.find('.') == std::string::npos)
    text.append(".0");
  return text;
}

namespace {

void append_repr(std::string& made, const Value& value) {
  switch (value.type()) {
    case Value::Type::null:
      made += "None";
      break;
    case Value::Type::boolean:
      made += value.boolean() ? "True" : "False";
      break;
    case Value::Type::integer:
      made += value.integer_digits();
      break;
    case Value::Type::real:
      made += real_text(value.real());
      break;
    case Value::Type::list:
      for (const Value& item : value.items()) {
        made += &item == value.items().data() ? "[" : ", ";
        append_repr(made, item);
      }
      made += value.items().empty() ? "[]" : "]";
      break;
    case Value::Type::dict:
      for (const Entry& entry : value.entries()) {
        made += &entry == value.entries().data() ? "{" : ", ";
        made += cat(python::quoted(entry.key.view()), ": ");
        append_repr(made, entry.value);
      }
      made += value.entries().empty() ? "{}" : "}";
      break;
    case Value::Type::text:
    case Value::Type::unknown:
    case Value::Type::deferred:
    case Value::Type::secret:
      made += python::quoted(to_text(value));
      break;
  }
}

}  // namespace

std::string text(const Value& value) {
  if (value.is_text())
    return value.text().str();
  std::string made;
  append_repr(made, value);
  return made;
}

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string made(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      made.push_back('\\');
      made.push_back(c);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      made.append(c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
    } else if (byte < 32 || byte == 127) {
      constexpr std::string_view digits = "0123456789abcdef";
      made.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
    } else {
      made.push_back(c);
    }
  }
  made.push_back(quote);
  return made;
}

namespace {

void append_escaped(std::string& made, uint32_t unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  made += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    made.push_back(digits[(unit >> shift) & 15]);
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string made;
  made.push_back('"');
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    constexpr std::string_view from = "\"\\\b\f\n\r\t";
    constexpr std::string_view to = "\"\\bfnrt";
    if (const size_t found = from.find(text[at]); found != from.npos) {
      made.append({'\\', to[found]});
      ++at;
    } else if (byte < 0x80) {
      if (byte < 32 || byte == 127)
        append_escaped(made, byte);
      else
        made.push_back(text[at]);
      ++at;
    } else {
      const size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      uint32_t point = byte & (0xFFu >> (length + 1));
      for (size_t i = 1; i < length && at + i < text.size(); ++i)
        point = (point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
      at += length;
      if (point < 0x10000) {
        append_escaped(made, point);
      } else {
        append_escaped(made, 0xD800 + ((point - 0x10000) >> 10));
        append_escaped(made, 0xDC00 + ((point - 0x10000) & 0x3FF));
      }
    }
  }
  made.push_back('"');
  return made;
}

namespace {

class JsonDumps {
 public:
  explicit JsonDumps(int indent) : indent_(static_cast<size_t>(indent)) {}

  void add(const Value& value, size_t depth) {
    if (value.is_dict() && !value.entries().empty())
      add_all('{', '}', value.entries(), depth, [&](const Entry& entry) {
        json += cat(json_text(entry.key), ": ");
        add(entry.value, depth + 1);
      });
    else if (value.is_list() && !value.items().empty())
      add_all('[', ']', value.items(), depth, [&](const Value& item) { add(item, depth + 1); });
    else
      json += leaf(value);
  }

  std::string json;

 private:
  void add_all(char begin, char end, const auto& all, size_t depth, const auto& add_one) {
    json += begin;
    bool is_first = true;
    for (const auto& one : all) {
      json += std::exchange(is_first, false) ? "\n" : ",\n";
      json.append(indent_ * (depth + 1), ' ');
      add_one(one);
    }
    json.append("\n").append(indent_ * depth, ' ') += end;
  }

  static std::string leaf(const Value& value) {
    if (value.is_text())
      return json_text(value.text());
    if (!value.is_real())
      return write_json(value);
    const double number = value.real();
    return std::isfinite(number) ? real_text(number)
           : std::isnan(number)  ? "NaN"
           : number < 0          ? "-Infinity"
                                 : "Infinity";
  }

  size_t indent_;
};

}  // namespace

std::string json_dumps(const Value& value, int indent) {
  JsonDumps dumps(indent);
  dumps.add(value, 0);
  return std::move(dumps.json);
}

Result<std::string> format_integer(int64_t number, std::string_view text) {
  return format_whole(std::to_string(number), text);
}

Result<std::string> format_whole(std::string_view number, std::string_view text) {
  const Spec spec = TRY(SpecReader(text, "int").read());
  const bool is_negative = number.starts_with('-');
  const std::string_view size = number.substr(is_negative ? 1 : 0);
  if (spec.type != 0 && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos) {
    const double real = whole::to_real(number);
    if (std::isinf(real))
      return user_error("OverflowError: int too large to convert to float");
    return format_real(real, text);
  }
  if (spec.precision >= 0)
    return user_error("ValueError: Precision not allowed in integer format specifier");
  const std::string sign = sign_of(is_negative, spec);
  std::string digits;
  std::string prefix;
  if (spec.type == 0 || spec.type == 'd' || spec.type == 'n') {
    digits = size;
  } else if (spec.type == 'c') {
    if (is_negative || whole::to_real(number) > 0x10FFFF)
      return user_error("OverflowError: %c arg not in range(0x110000)");
    append_utf8(digits, static_cast<uint32_t>(whole::to_real(number)));
    return padded("", digits, spec, '<');
  } else if (std::string_view("xXob").find(spec.type) != std::string_view::npos) {
    digits = whole::in_base(size, spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : 16);
    if (spec.is_alternate)
      prefix = {'0', spec.type};
    if (spec.type == 'X')
      digits = upper_case(digits);
  } else {
    return unknown_code(spec.type, "int");
  }
  const bool is_decimal = spec.type == 0 || spec.type == 'd' || spec.type == 'n';
  if (spec.grouping == ',' && !is_decimal)
    return user_error(
        cat("ValueError: Cannot specify ',' with '", std::string(1, spec.type), "'."));
  digits = grouped(std::move(digits), spec, is_decimal ? 3 : 4, sign.size() + prefix.size());
  return padded(sign + prefix, std::move(digits), spec, '>');
}

Result<std::string> format_real(double number, std::string_view text) {
  const Spec spec = TRY(SpecReader(text, "float").read());
  if (spec.type != 0 && std::string_view("eEfFgGn%").find(spec.type) == std::string_view::npos)
    return unknown_code(spec.type, "float");
  const std::string sign = sign_of(std::signbit(number) && !std::isnan(number), spec);
  const double size = std::fabs(number);
  if (!std::isfinite(size)) {
    const std::string name = std::isnan(size) ? "nan" : "inf";
    const bool is_upper = spec.type == 'F' || spec.type == 'E' || spec.type == 'G';
    return padded(sign, cat(is_upper ? upper_case(name) : name, spec.type == '%' ? "%" : ""), spec,
                  '>');
  }
  return padded(sign, grouped(real_body(size, spec), spec, 3, sign.size()), spec, '>');
}

Result<std::string> format_text(std::string_view text, std::string_view spec_text) {
  const Spec spec = TRY(SpecReader(spec_text, "str").read());
  if (spec.type != 0 && spec.type != 's')
    return unknown_code(spec.type, "str");
  if (spec.sign != '-')
    return user_error("ValueError: Sign not allowed in string format specifier");
  if (spec.is_alternate)
    return user_error("ValueError: Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=')
    return user_error("ValueError: '=' alignment not allowed in string format specifier");
  if (spec.grouping != 0)
    return user_error(
        cat("ValueError: Cannot specify '", std::string(1, spec.grouping), "' with 's'."));
  size_t end = 0;
  for (int left = spec.precision; spec.precision >= 0 && left > 0 && end < text.size(); --left)
    end += point_length(text[end]);
  return padded("", std::string(spec.precision < 0 ? text : text.substr(0, end)), spec, '<');
}

namespace {

/// One pass over a format text. Specs are formatted, too, with the same numbering.
class Formatter {
 public:
  explicit Formatter(const Field& field) : field_(field) {}

  Result<std::string> run(std::string_view text, int depth) {
    if (depth > deepest_spec)
      return user_error("ValueError: Max string recursion exceeded");
    std::string made;
    for (size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c != '{' && c != '}') {
        made.push_back(c);
        continue;
      }
      if (at + 1 < text.size() && text[at + 1] == c) {
        made.push_back(c);
        ++at;
        continue;
      }
      if (c == '}' || at + 1 == text.size())
        return user_error(
            cat("ValueError: Single '", std::string(1, c), "' encountered in format string"));
      const size_t end = closing(text, at);
      if (end == std::string_view::npos)
        return user_error("ValueError: expected '}' before end of string");
      made += TRY(replacement(text.substr(at + 1, end - at - 1), depth));
      at = end;
    }
    return made;
  }

 private:
  static size_t closing(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t at = open; at < text.size(); ++at) {
      depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
      if (depth == 0)
        return at;
    }
    return std::string_view::npos;
  }

  Result<std::string> replacement(std::string_view field, int depth) {
    size_t end = 0;
    for (int brackets = 0; end < field.size(); ++end) {
      brackets += field[end] == '[' ? 1 : field[end] == ']' ? -1 : 0;
      if (brackets <= 0 && (field[end] == '!' || field[end] == ':'))
        break;
    }
    std::string name(field.substr(0, end));
    char conversion = 0;
    if (end < field.size() && field[end] == '!') {
      if (end + 1 >= field.size())
        return user_error("ValueError: unmatched '{' in format spec");
      conversion = field[end + 1];
      end += 2;
      if (end < field.size() && field[end] != ':')
        return user_error("ValueError: expected ':' after conversion specifier");
      if (conversion != 'r' && conversion != 's' && conversion != 'a')
        return user_error(
            cat("ValueError: Unknown conversion specifier '", std::string(1, conversion), "'"));
    }
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    if (Status numbered = number(name, first_end); !numbered)
      return numbered.error();
    const std::string spec =
        end < field.size() ? TRY(run(field.substr(end + 1), depth + 1)) : std::string();
    return field_(name, conversion, spec);
  }

  /// Gives a field without a name its number.
  Status number(std::string& name, size_t first_end) {
    const std::string_view first = std::string_view(name).substr(0, first_end);
    const bool is_number = !first.empty() && first.find_first_not_of("0123456789") == first.npos;
    if (!first.empty() && !is_number)
      return {};
    if (is_number ? next_ > 0 : has_manual_)
      return user_error(is_number ? "ValueError: cannot switch from automatic field numbering to "
                                    "manual field specification"
                                  : "ValueError: cannot switch from manual field specification to "
                                    "automatic field numbering");
    if (is_number)
      has_manual_ = true;
    else
      name.insert(0, std::to_string(next_++));
    return {};
  }

  const Field& field_;
  int next_ = 0;
  bool has_manual_ = false;
};

}  // namespace

namespace {
bool continues(char byte) { return (byte & 0xC0) == 0x80; }
}  // namespace

size_t Points::first_size(std::string_view text) {
  size_t end = text.empty() ? 0 : 1;
  while (end < text.size() && continues(text[end]))
    ++end;
  return end;
}

size_t Points::size() const {
  const auto begins = [](char byte) { return !continues(byte); };
  const auto count = static_cast<size_t>(std::ranges::count_if(text_, begins));
  return count + (!text_.empty() && continues(text_[0]) ? 1 : 0);
}

std::string_view Points::first(size_t count) const {
  size_t end = 0;
  for (; count > 0 && end < text_.size(); --count)
    end += first_size(text_.substr(end));
  return text_.substr(0, end);
}

std::vector<std::string_view> Points::list() const {
  if (!Budget::current().has_room(2 * sizeof(std::string_view) * text_.size()))
    return {};
  return {begin(), end()};
}

Result<std::string> format(std::string_view text, const Field& field) {
  return Formatter(field).run(text, 0);
}

}  // namespace fettle::python
