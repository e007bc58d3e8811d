/// Filters over numbers, defaults and JSON.

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "template/jinja/filters.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

constexpr int deepest_json_text = 500;

Result<Value> default_value(Renderer&, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_default", arguments, {"value", "default_value?", "boolean?"}));
  const bool is_missing = given[0].is_undefined() || (is_true(given[2]) && !is_true(given[0]));
  return !is_missing                                                       ? given[0]
         : given[1].is_undefined() && given[1].undefined_message().empty() ? Value("")
                                                                           : given[1];
}

Result<Value> to_int(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_int", arguments, {"value", "default?", "base?"}));
  const Value otherwise = given[1].is_undefined() ? Value(0) : given[1];
  if (given[0].is_undefined())
    return undefined_error(given[0]);
  if (given[0].is_whole())
    return Value(given[0].integer());
  if (given[0].is_real())
    return std::fabs(given[0].real()) < 9e18 ? Value(static_cast<int64_t>(given[0].real()))
                                             : otherwise;
  if (!given[0].is_text())
    return otherwise;
  int base =
      given[2].is_whole() ? static_cast<int>(std::clamp<int64_t>(given[2].integer(), 2, 36)) : 10;
  std::string text = replace_all(trim(given[0].text()), "_", "");
  const bool is_negative = text.starts_with('-');
  text.erase(0, is_negative || text.starts_with('+'));
  const char mark = text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 32) : '\0';
  if ((mark == 'x' && base == 16) || (mark == 'o' && base == 8) || (mark == 'b' && base == 2))
    text.erase(0, 2);
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (!text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size())
    return Value(is_negative ? -number : number);
  double real = 0;
  const auto as_real = std::from_chars(text.data(), text.data() + text.size(), real);
  if (!text.empty() && as_real.ec == std::errc() && as_real.ptr == text.data() + text.size() &&
      std::fabs(real) < 9e18)
    return Value(static_cast<int64_t>(is_negative ? -real : real));
  return otherwise;
}

/// The number in a text. None: there is none.
Value float_of(const Value& value) {
  if (!value.is_text())
    return {};
  const std::string text(trim(value.text()));
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number =
      !text.empty() && *end == '\0' && text.find_first_of("xX") == std::string::npos;
  return is_number ? Value(number) : Value();
}

Result<Value> to_float(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_float", arguments, {"value", "default?"}));
  if (given[0].is_undefined())
    return undefined_error(given[0]);
  const Value number = given[0].is_number() ? Value(given[0].real()) : float_of(given[0]);
  if (!number.is_none())
    return number;
  return given[1].is_undefined() ? Value(0.0) : given[1];
}

Result<Value> abs_value(Renderer&, Arguments& arguments) {
  const Value& value = arguments.positional[0];
  if (value.is_undefined())
    return undefined_error(value);
  if (!value.is_number())
    return raise("TypeError", cat("bad operand type for abs(): '", type_name(value), "'"));
  if (value.is_real())
    return Value(std::fabs(value.real()));
  return value.integer() < 0 ? operate("-", Value(0), value)
                             : Result<Value>(Value(value.integer()));
}

Result<Value> round_value(Renderer&, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_round", arguments, {"value", "precision?", "method?"}));
  if (given[0].is_undefined())
    return undefined_error(given[0]);
  if (!given[0].is_number())
    return raise("TypeError",
                 cat("type ", type_name(given[0]), " doesn't define __round__ method"));
  const int64_t precision =
      given[1].is_whole() ? std::clamp<int64_t>(given[1].integer(), -300, 300) : 0;
  const std::string method = given[2].is_text() ? given[2].text() : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    return raise("jinja2.exceptions.FilterArgumentError", "method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double number = given[0].real();
  if (method != "common")
    return Value((method == "ceil" ? std::ceil(number * scale) : std::floor(number * scale)) /
                 scale);
  if (given[0].is_whole() && precision >= 0)
    return Value(given[0].integer());
  if (precision < 0) {
    const double rounded = std::nearbyint(number * scale) / scale;
    return given[0].is_whole() ? Value(static_cast<int64_t>(rounded)) : Value(rounded);
  }
  // The nearest decimal of that length, as Python rounds.
  char buffer[700];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(precision), number);
  return Value(std::strtod(buffer, nullptr));
}

Result<Value> filesizeformat(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_filesizeformat", arguments, {"value", "binary?"}));
  if (given[0].is_undefined())
    return undefined_error(given[0]);
  const Value number = given[0].is_number() ? given[0] : float_of(given[0]);
  if (number.is_none())
    return given[0].is_text()
               ? raise("ValueError", cat("could not convert string to float: ", quoted(given[0])))
               : raise("TypeError", cat("float() argument must be a string or a real number, not '",
                                        type_name(given[0]), "'"));
  const double bytes = number.real();
  if (bytes < -9e18)
    return raise("OverflowError", "the number has more than 64 bits");
  const bool is_binary = is_true(given[1]);
  const double base = is_binary ? 1024 : 1000;
  if (bytes == 1)
    return Value("1 Byte");
  if (bytes < base)
    return Value(cat(static_cast<int64_t>(bytes), " Bytes"));
  constexpr std::array units{"k", "M", "G", "T", "P", "E", "Z", "Y"};
  size_t unit = 0;
  double size = bytes / base;
  while (!(size < base) && unit + 1 < units.size()) {
    size /= base;
    ++unit;
  }
  return Value(cat(python::format_real(size, ".1f").value(), " ",
                   is_binary ? cat(unit == 0 ? "K" : units[unit], "iB") : cat(units[unit], "B")));
}

Status write_json(const Value& value, std::string& made, int indent, int depth) {
  if (depth > deepest_json_text)
    return raise("RecursionError", "maximum recursion depth exceeded while encoding a JSON object");
  if (value.is_undefined())
    return raise("TypeError",
                 cat("Object of type ", type_name(value), " is not JSON serializable"));
  if (Status status = add(made, {}); !status)
    return status;
  Budget::current().spend(cost::open);
  if (Status status = begin_work(value); !status)
    return status;
  const auto line = [&](int level) {
    return indent < 0 ? std::string()
                      : cat("\n", std::string(static_cast<size_t>(indent * level), ' '));
  };
  const std::string_view comma = indent < 0 ? ", " : ",";
  if (value.is_none()) {
    made += "null";
  } else if (value.is_bool()) {
    made += value.boolean() ? "true" : "false";
  } else if (value.is_integer()) {
    made += std::to_string(value.integer());
  } else if (value.is_real()) {
    made += std::isnan(value.real())   ? "NaN"
            : std::isinf(value.real()) ? (value.real() < 0 ? "-Infinity" : "Infinity")
                                       : python::real_text(value.real());
  } else if (value.is_text()) {
    made += python::json_text(value.text());
  } else if (value.is_list()) {
    made += "[";
    bool is_first = true;
    for (const Value& item : value.list().items) {
      made += std::exchange(is_first, false) ? "" : comma;
      made += line(depth + 1);
      if (Status status = write_json(item, made, indent, depth + 1); !status)
        return status;
    }
    made += cat(is_first ? "" : line(depth), "]");
  } else if (value.is_dict()) {
    std::vector<std::pair<std::string, Value>> entries;
    for (const auto& [key, item] : value.dict_data().entries)
      entries.emplace_back(key.is_none()   ? "null"
                           : key.is_bool() ? (key.boolean() ? "true" : "false")
                                           : text_of(key),
                           item);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    made += "{";
    bool is_first = true;
    for (const auto& [key, item] : entries) {
      made += std::exchange(is_first, false) ? "" : comma;
      made += line(depth + 1);
      made += python::json_text(key);
      made += ": ";
      if (Status status = write_json(item, made, indent, depth + 1); !status)
        return status;
    }
    made += cat(is_first ? "" : line(depth), "}");
  } else if (const std::optional<std::string> digits = digits_of(value)) {
    made += *digits;
  } else {
    return raise("TypeError",
                 cat("Object of type ", type_name(value), " is not JSON serializable"));
  }
  return {};
}

Result<Value> tojson(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_tojson", arguments, {"value", "indent?"}));
  std::string made;
  const int indent =
      given[1].is_whole() ? static_cast<int>(std::clamp<int64_t>(given[1].integer(), 0, 100)) : -1;
  if (Status status = write_json(given[0], made, indent, 0); !status)
    return status.error();
  for (const auto& [from, to] :
       {std::pair{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"'", "\\u0027"}})
    made = replace_all(made, from, to);
  return Value(std::move(made));
}

Result<Value> pprint(Renderer&, Arguments& arguments) {
  return Value(quoted(arguments.positional[0]));
}

constexpr std::array number_rows{
    FilterRow{"default", default_value},
    FilterRow{"d", default_value},
    FilterRow{"int", to_int},
    FilterRow{"float", to_float},
    FilterRow{"abs", abs_value},
    FilterRow{"round", round_value},
    FilterRow{"filesizeformat", filesizeformat},
    FilterRow{"tojson", tojson},
    FilterRow{"pprint", pprint},
};

}  // namespace

std::span<const FilterRow> number_filters() { return number_rows; }

}  // namespace fettle::jinja
