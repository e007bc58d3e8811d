#include "cluster/cel.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle::cluster {
namespace {

constexpr int64_t largest_whole_number = int64_t{1} << 53;

Result<std::string> list_literal(const Value& list) {
  std::vector<std::string> items;
  for (const Value& item : list.items())
    items.push_back(cat("dyn(", TRY(cel_literal(item)), ")"));
  return cat("[", join(items, ", "), "]");
}

Result<std::string> dict_literal(const Value& dict) {
  std::vector<std::string> items;
  for (const Entry& entry : dict.entries())
    items.push_back(cat(cel_text(entry.key), ": dyn(", TRY(cel_literal(entry.value)), ")"));
  return cat("{", join(items, ", "), "}");
}

Result<std::string> integer_literal(const Value& value) {
  const std::optional<int64_t> number = value.integer();
  if (!number || *number > largest_whole_number || *number < -largest_whole_number)
    return user_error(
        cat("an admission policy cannot pass on the number ", value.integer_digits()));
  return std::to_string(*number);
}

}  // namespace

std::string cel_text(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string made = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      made += '\\';
      made += letter;
    } else if (code < 0x20 || code == 0x7f) {
      made += "\\u00";
      made += digits[code >> 4];
      made += digits[code & 15];
    } else {
      made += letter;
    }
  }
  return made + "\"";
}

std::string cel_texts(std::span<const Name> texts) {
  std::vector<std::string> items;
  for (const Name& text : texts)
    items.push_back(cel_text(text));
  return cat("[", join(items, ", "), "]");
}

Result<std::string> cel_literal(const Value& value) {
  switch (value.type()) {
    case Value::Type::boolean:
      return std::string(value.boolean() ? "true" : "false");
    case Value::Type::integer:
      return integer_literal(value);
    case Value::Type::real: {
      std::string json;
      append_json_real(json, value.real());
      return json;
    }
    case Value::Type::text:
      return cel_text(value.text());
    case Value::Type::list:
      return list_literal(value);
    case Value::Type::dict:
      return dict_literal(value);
    case Value::Type::null:
    case Value::Type::unknown:
    case Value::Type::deferred:
    case Value::Type::secret:
      break;
  }
  return std::string("null");
}

/// The remaining control characters are none of a path or name, and make unreadable what a variable
/// with them would say of its pod: it counts as one without sidecars.
std::string cel_json_text(std::string_view expression) {
  std::string made(expression);
  const auto replace = [&](std::string_view part, std::string_view by) {
    made += cat(".replace(", cel_text(part), ", ", cel_text(by), ")");
  };
  for (const auto& [part, by] :
       {std::pair("\\", "\\\\"), std::pair("\"", "\\\""), std::pair("\n", "\\n"),
        std::pair("\r", "\\r"), std::pair("\t", "\\t"), std::pair("\b", "\\b"),
        std::pair("\f", "\\f")})
    replace(part, by);
  return cat(R"(("\"" + )", made, R"( + "\""))");
}

}  // namespace fettle::cluster
