#include "template/go/functions.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle::go_template {
namespace {

constexpr std::array<std::string_view, 20> names{
    "and",    "call",    "html",     "index", "slice", "js", "len", "not", "or", "print",
    "printf", "println", "urlquery", "eq",    "ge",    "gt", "le",  "lt",  "ne", "break"};

std::optional<double> number(const Value& value) {
  if (value.is_integer())
    return value.integer() ? static_cast<double>(*value.integer())
                           : std::strtod(value.integer_digits().c_str(), nullptr);
  if (value.is_real())
    return value.real();
  return std::nullopt;
}

Result<int> compare(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer() && a.integer() && b.integer())
    return *a.integer() < *b.integer() ? -1 : *a.integer() > *b.integer() ? 1 : 0;
  if (const auto x = number(a), y = number(b); x && y)
    return *x < *y ? -1 : *x > *y ? 1 : 0;
  if (a.is_text() && b.is_text())
    return a.text().view().compare(b.text().view());
  return user_error("incompatible types for comparison");
}

Result<bool> equal(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return a.is_null() && b.is_null();
  if (a.is_list() || a.is_dict() || b.is_list() || b.is_dict())
    return user_error("non-comparable type in a comparison");
  if (a.is_bool() && b.is_bool())
    return a == b;
  return TRY(compare(a, b)) == 0;
}

Result<Value> compared(std::string_view name, std::span<const Value> arguments) {
  if (arguments.size() < 2 || (name != "eq" && arguments.size() != 2))
    return user_error(cat("wrong number of args for ", name, ": want ",
                          name == "eq" ? "at least 2" : "2", " got ", arguments.size()));
  if (name == "eq" || name == "ne") {
    bool any = false;
    for (const Value& other : arguments.subspan(1))
      any |= TRY(equal(arguments[0], other));
    return any == (name == "eq");
  }
  const int order = TRY(compare(arguments[0], arguments[1]));
  return name == "lt"   ? order < 0
         : name == "le" ? order <= 0
         : name == "gt" ? order > 0
                        : order >= 0;
}

Result<int64_t> position(const Value& index, size_t size, bool end) {
  if (!index.is_integer() || !index.integer())
    return user_error(cat("cannot index slice/array with type ", to_string(index.type())));
  const int64_t at = *index.integer();
  if (at < 0 || at > static_cast<int64_t>(size) || (!end && at == static_cast<int64_t>(size)))
    return user_error(cat("index out of range: ", at));
  return at;
}

Result<Value> index(std::span<const Value> arguments) {
  if (arguments.empty())
    return user_error("wrong number of args for index: want at least 1 got 0");
  Value at = arguments[0];
  for (const Value& key : arguments.subspan(1)) {
    if (at.is_list()) {
      at = Value(at.items()[static_cast<size_t>(TRY(position(key, at.items().size(), false)))]);
    } else if (at.is_dict()) {
      if (!key.is_text())
        return user_error(cat("value has type ", to_string(key.type()), "; should be string"));
      at = Value(at.at(key.text()));
    } else if (at.is_text()) {
      const Name text = at.text();
      at = Value(static_cast<unsigned char>(
          text.view()[static_cast<size_t>(TRY(position(key, text.size(), false)))]));
    } else {
      return user_error(cat("can't index item of type ", to_string(at.type())));
    }
  }
  return at;
}

Result<Value> slice(std::span<const Value> arguments) {
  if (arguments.empty() || arguments.size() > 3 ||
      !(arguments[0].is_list() || arguments[0].is_text()))
    return user_error("slice wants a list or text and at most two places");
  const Value& whole = arguments[0];
  const size_t size = whole.is_list() ? whole.items().size() : whole.text().size();
  const int64_t begin = arguments.size() > 1 ? TRY(position(arguments[1], size, true)) : 0;
  const int64_t end =
      arguments.size() > 2 ? TRY(position(arguments[2], size, true)) : static_cast<int64_t>(size);
  if (begin > end)
    return user_error(cat("invalid slice index: ", begin, " > ", end));
  const auto from = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
  if (whole.is_text())
    return Value(whole.text().view().substr(from, count));
  const auto items = whole.items().subspan(from, count);
  return Value::list({items.begin(), items.end()});
}

Result<Value> length(std::span<const Value> arguments) {
  if (arguments.size() != 1)
    return user_error(cat("wrong number of args for len: want 1 got ", arguments.size()));
  const Value& value = arguments[0];
  if (value.is_text())
    return Value(value.text().size());
  if (value.is_list())
    return Value(value.items().size());
  if (value.is_dict())
    return Value(value.entries().size());
  return user_error(cat("len of type ", to_string(value.type())));
}

std::string joined(std::span<const Value> arguments, bool lines) {
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool between = lines || (i > 0 && !arguments[i].is_text() && !arguments[i - 1].is_text());
    text += cat(i > 0 && between ? " " : "", printed(arguments[i]));
  }
  return lines ? text + "\n" : text;
}

std::string html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '"':
        safe += "&#34;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '\0':
        safe += "\xEF\xBF\xBD";
        break;
      default:
        safe.push_back(c);
    }
  }
  return safe;
}

std::string hex_escaped(std::string_view prefix, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return cat(prefix, digits.substr(byte >> 4, 1), digits.substr(byte & 15, 1));
}

std::string js(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '\'' || c == '"')
      safe.append("\\").push_back(c);
    else if (c == '\n' || c == '\r' || c == '\t')
      safe += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    else if (c == '<' || c == '>' || c == '&' || c == '=' || (static_cast<unsigned char>(c) < 0x20))
      safe += hex_escaped("\\u00", c);
    else
      safe.push_back(c);
  }
  return safe;
}

std::string urlquery(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (c == ' ')
      safe.push_back('+');
    else
      safe += plain ? std::string(1, c) : hex_escaped("%", c);
  }
  return safe;
}

}  // namespace

bool is_function(std::string_view name) {
  return name != "break" && std::find(names.begin(), names.end(), name) != names.end();
}
std::span<const std::string_view> function_names() {
  return std::span(names).first(names.size() - 1);
}

bool truth(const Value& value) {
  switch (value.type()) {
    case Value::Type::null:
      return false;
    case Value::Type::boolean:
      return value.boolean();
    case Value::Type::integer:
      return value.integer() != 0;
    case Value::Type::real:
      return value.real() != 0;
    case Value::Type::text:
      return !value.text().empty();
    case Value::Type::list:
      return !value.items().empty();
    case Value::Type::dict:
      return !value.entries().empty();
    default:
      return true;
  }
}

Result<Value> call_function(std::string_view name, std::span<const Value> arguments) {
  if (name == "index")
    return index(arguments);
  if (name == "slice")
    return slice(arguments);
  if (name == "len")
    return length(arguments);
  if (name == "not") {
    if (arguments.size() != 1)
      return user_error(cat("wrong number of args for not: want 1 got ", arguments.size()));
    return Value(!truth(arguments[0]));
  }
  if (name == "print" || name == "println")
    return Value(joined(arguments, name == "println"));
  if (name == "printf") {
    if (arguments.empty() || !arguments[0].is_text())
      return user_error("wrong type for value; expected string");
    return Value(format(arguments[0].text(), arguments.subspan(1)));
  }
  if (name == "html" || name == "js" || name == "urlquery") {
    const std::string text = joined(arguments, false);
    return Value(name == "html" ? html(text) : name == "js" ? js(text) : urlquery(text));
  }
  if (name == "call")
    return user_error("non-function in a call: the data has no functions");
  return compared(name, arguments);
}

}  // namespace fettle::go_template
