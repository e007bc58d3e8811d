#include "server/shapes.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

Value schema_of_types(std::string_view words) {
  std::vector<Value> types;
  for (std::string_view left = words; !left.empty();) {
    const size_t end = std::min(left.find(" or "), left.size());
    types.emplace_back(std::string(left.substr(0, end)));
    left.remove_prefix(std::min(end + 4, left.size()));
  }
  // Of what was only ever missing, the type is not known.
  if (types.size() == 1 && types.front() == Value("null"))
    return Value::dict({});
  return Value::dict(
      {{"type", types.size() == 1 ? std::move(types.front()) : Value::list(std::move(types))}});
}

Value schema_of(const Value& shape) {
  if (shape.is_text())
    return schema_of_types(shape.text().view());
  if (shape.is_list())  // generators of clients want to be told that anything may be in it
    return Value::dict(
        {{"type", "array"},
         {"items", shape.items().empty() ? Value::dict({}) : schema_of(shape.items().front())}});
  std::vector<Entry> members;
  for (const Entry& member : shape.entries())
    members.push_back({member.key, schema_of(member.value)});
  return Value::dict({{"type", "object"}, {"properties", Value::dict(std::move(members))}});
}

/// JSON with the words of types in quotes.
std::string quoted(std::string_view shape) {
  std::string json;
  bool is_in_text = false, is_in_word = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const char c = shape[i];
    const bool is_letter = c >= 'a' && c <= 'z';
    if (c == '"' && !is_in_word)
      is_in_text = !is_in_text;
    const bool goes_on = is_letter || (c == ' ' && i + 1 < shape.size() && shape[i + 1] >= 'a' &&
                                       shape[i + 1] <= 'z');
    if (!is_in_text && c != '"' && is_in_word != (is_in_word ? goes_on : is_letter)) {
      json += '"';
      is_in_word = !is_in_word;
    }
    json += c;
  }
  if (is_in_word)
    json += '"';
  return json;
}

}  // namespace

Result<Value> schema_of_shape(std::string_view shape) {
  const Result<Value> read = read_json(quoted(shape));
  if (!read)
    return Error(Blame::bug, cat("no shape of a document: ", read.error().message));
  return schema_of(*read);
}

Value schema_of_path(std::string_view pattern) {
  constexpr std::string_view begin = "\n\n```\n", end = "\n```\n";
  const std::string_view page = page_of_shapes();
  const std::string head = cat("\n## ", pattern, begin);
  const size_t at = page.find(head);
  if (at == page.npos)
    return Value::dict({});
  const std::string_view rest = page.substr(at + head.size());
  const Result<Value> schema = schema_of_shape(rest.substr(0, rest.find(end)));
  return schema ? *schema : Value::dict({});
}

}  // namespace fettle
