#include "template/go/functions.h"

#include "base/budget.h"
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
  // For Kurtosis, a number in the data is the text of a number: packages write `eq .fork "12"`.
  if ((a.is_text() || number(a)) && (b.is_text() || number(b)))
    return printed(a).compare(printed(b));
  return user_error(cat("incompatible types for comparison: ", go_type(a), " and ", go_type(b)));
}

Result<bool> equal(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return a.is_null() && b.is_null();
  for (const Value* side : {&a, &b})
    if (side->is_list() || side->is_dict())
      return user_error(cat("non-comparable type ", printed(*side), ": ", go_type(*side)));
  if (a.is_bool() && b.is_bool())
    return a == b;
  return TRY(compare(a, b)) == 0;
}

Result<Value> compared(std::string_view name, std::span<const Value> arguments) {
  if (name == "eq" || name == "ne") {
    if (arguments.size() < 2)
      return user_error("missing argument for comparison");
    bool any = false;
    for (const Value& other : arguments.subspan(1))
      any = any || TRY(equal(arguments[0], other));
    return any == (name == "eq");
  }
  for (const Value& side : arguments)
    if (!number(side) && !side.is_text())
      return user_error("invalid type for comparison");
  const int order = TRY(compare(arguments[0], arguments[1]));
  return name == "lt"   ? order < 0
         : name == "le" ? order <= 0
         : name == "gt" ? order > 0
                        : order >= 0;
}

Result<int64_t> position(const Value& index, size_t size, bool end) {
  if (index.is_null())
    return user_error("cannot index slice/array with nil");
  if (!index.is_integer() || !index.integer())
    return user_error(cat("cannot index slice/array with type ", go_type(index)));
  const int64_t at = *index.integer();
  if (at < 0 || at > static_cast<int64_t>(size) || (!end && at == static_cast<int64_t>(size)))
    return user_error(cat("index out of range: ", at));
  return at;
}

Result<Value> item(const Value& whole, const Value& key) {
  if (whole.is_list())
    return Value(
        whole.items()[static_cast<size_t>(TRY(position(key, whole.items().size(), false)))]);
  if (whole.is_dict()) {
    if (key.is_null())
      return user_error("value is nil; should be of type string");
    if (!key.is_text())
      return user_error(cat("value has type ", go_type(key), "; should be string"));
    return Value(whole.at(key.text()));
  }
  if (whole.is_text()) {
    const Name text = whole.text();
    return Value(static_cast<unsigned char>(
        text.view()[static_cast<size_t>(TRY(position(key, text.size(), false)))]));
  }
  return user_error(cat("can't index item of type ", go_type(whole)));
}

Result<Value> index(std::span<const Value> arguments) {
  if (arguments[0].is_null())
    return user_error("index of untyped nil");
  Value at = arguments[0];
  for (const Value& key : arguments.subspan(1)) {
    if (at.is_null())
      return user_error("index of nil pointer");
    at = TRY(item(at, key));
  }
  return at;
}

Result<Value> slice(std::span<const Value> arguments) {
  const Value& whole = arguments[0];
  if (whole.is_null())
    return user_error("slice of untyped nil");
  if (arguments.size() > 4)
    return user_error(cat("too many slice indexes: ", arguments.size() - 1));
  if (!whole.is_list() && !whole.is_text())
    return user_error(cat("can't slice item of type ", go_type(whole)));
  if (whole.is_text() && arguments.size() == 4)
    return user_error("cannot 3-index slice a string");
  const size_t size = whole.is_list() ? whole.items().size() : whole.text().size();
  int64_t places[3] = {0, static_cast<int64_t>(size), static_cast<int64_t>(size)};
  for (size_t i = 1; i < arguments.size(); ++i)
    places[i - 1] = TRY(position(arguments[i], size, true));
  for (size_t i = 0; i + 1 < std::max<size_t>(2, arguments.size() - 1); ++i)
    if (places[i] > places[i + 1])
      return user_error(cat("invalid slice index: ", places[i], " > ", places[i + 1]));
  const auto from = static_cast<size_t>(places[0]),
             count = static_cast<size_t>(places[1] - places[0]);
  if (whole.is_text() && !Budget::current().spend(count / 16))
    return Value();
  if (whole.is_text())
    return Value(whole.text().view().substr(from, count));
  if (!Budget::current().spend(count / 4))
    return Value();
  const auto items = whole.items().subspan(from, count);
  return Value::list({items.begin(), items.end()});
}

Result<Value> length(std::span<const Value> arguments) {
  const Value& value = arguments[0];
  if (value.is_text())
    return Value(value.text().size());
  if (value.is_list())
    return Value(value.items().size());
  if (value.is_dict())
    return Value(value.entries().size());
  return user_error(value.is_null() ? std::string("len of nil pointer")
                                    : cat("len of type ", go_type(value)));
}

std::string joined(std::span<const Value> arguments, bool lines) {
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool between = lines || (i > 0 && !arguments[i].is_text() && !arguments[i - 1].is_text());
    text += cat(i > 0 && between ? " " : "", printed(arguments[i]));
    if (!Budget::current().has_room(2 * text.size()))
      break;
  }
  return lines ? text + "\n" : text;
}

/// The text on which the escaping functions work. Only nil has the form that an action prints.
std::string escaped_text(std::span<const Value> arguments) {
  return arguments.size() == 1 && arguments[0].is_null() ? "<no value>" : joined(arguments, false);
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

std::string wrong_count(std::string_view name, size_t count) {
  const bool open = name == "and" || name == "or" || name == "index" || name == "slice" ||
                    name == "printf" || name == "call" || name == "eq";
  const bool two = name == "ne" || name == "lt" || name == "le" || name == "gt" || name == "ge";
  const bool any =
      name == "print" || name == "println" || name == "html" || name == "js" || name == "urlquery";
  const size_t want = two ? 2 : 1;
  if (any || (open ? count >= want : count == want))
    return {};
  return cat("wrong number of args for ", name, ": want ", open ? "at least " : "", want, " got ",
             count);
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
  if (name == "not")
    return Value(!truth(arguments[0]));
  if (name == "print" || name == "println")
    return Value(joined(arguments, name == "println"));
  if (name == "printf") {
    if (!arguments[0].is_text())
      return user_error(cat("wrong type for value; expected string; got ", go_type(arguments[0])));
    return Value(format(arguments[0].text(), arguments.subspan(1)));
  }
  if (name == "html" || name == "js" || name == "urlquery") {
    const std::string text = escaped_text(arguments);
    if (!Budget::current().spend(text.size() / 8) || !Budget::current().has_room(6 * text.size()))
      return Value();
    return Value(name == "html" ? html(text) : name == "js" ? js(text) : urlquery(text));
  }
  if (name == "call")
    return user_error(arguments[0].is_null() ? std::string("call of nil")
                                             : cat("non-function ", printed(arguments[0]),
                                                   " of type ", go_type(arguments[0])));
  return compared(name, arguments);
}

}  // namespace fettle::go_template
