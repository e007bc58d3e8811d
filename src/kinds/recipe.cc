#include "kinds/recipe.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

const std::vector<std::string> assertions{"==", "!=", ">=", "<=", ">", "<", "IN", "NOT_IN"};

Result<bool> less(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer() && a.integer() && b.integer())
    return *a.integer() < *b.integer();
  if (a.is_real() && b.is_real())
    return a.real() < b.real();
  if (a.is_text() && b.is_text())
    return a.text().view() < b.text().view();
  return world_error(cat("`", write_json(a), "` and `", write_json(b), "` cannot be ordered"));
}

bool is_in(const Value& value, const Value& target) {
  if (!target.is_list())
    return false;
  const auto items = target.items();
  return std::find(items.begin(), items.end(), value) != items.end();
}

Result<bool> holds(const Value& value, std::string_view assertion, const Value& target) {
  if (assertion == "IN" || assertion == "NOT_IN") {
    if (!target.is_list())
      return world_error(
          cat("`", assertion, "` needs a list to search, got ", to_string(target.type())));
    return is_in(value, target) == (assertion == "IN");
  }
  if (value.type() != target.type())
    return world_error(cat("`", write_json(value), "` is ", to_string(value.type()), " and `",
                           write_json(target), "` is ", to_string(target.type()),
                           ", so they cannot be compared with `", assertion, "`"));
  if (assertion == "==" || assertion == "!=")
    return (value == target) == (assertion == "==");
  if (assertion == "<")
    return less(value, target);
  if (assertion == ">")
    return less(target, value);
  if (assertion == "<=")
    return !TRY(less(target, value));
  return !TRY(less(value, target));
}

}  // namespace

Result<Value> normalise_recipe(const Value& recipe) {
  static const Value none = Value::dict({});
  static const Schema exec{
      {"type", Field::text, {}}, {"command", Field::list, {}}, {"extract", Field::dict, none}};
  static const Schema http{
      {"type", Field::text, {}},     {"port", Field::text, {}},
      {"endpoint", Field::text, {}}, {"headers", Field::dict, none},
      {"body", Field::text, ""},     {"content_type", Field::text, "application/json"},
      {"extract", Field::dict, none}};
  const std::string_view type = recipe.text_at("type");
  if (type == "exec")
    return exec.normalise(recipe);
  if (type == "get" || type == "post")
    return http.normalise(recipe);
  return user_error(cat("unknown type of recipe `", type, "`, expected `exec`, `get` or `post`"));
}

Result<Value> normalise_with_recipe(const Schema& schema, const Value& attributes) {
  const Value normal = TRY(schema.normalise(attributes));
  const Value recipe = TRY(normalise_recipe(normal.at("recipe")));
  std::vector<Entry> entries(normal.entries().begin(), normal.entries().end());
  for (Entry& entry : entries)
    if (entry.key == "recipe")
      entry.value = recipe;
  return Value::dict(std::move(entries));
}

Status check_assertion_name(std::string_view assertion) {
  if (std::find(assertions.begin(), assertions.end(), assertion) != assertions.end())
    return {};
  return user_error(
      cat("unknown assertion `", assertion, "`, expected one of ", join(assertions, ", ")));
}

Status check_assertion(const Value& value, std::string_view assertion, const Value& target) {
  const Value& bare_value = value.is_secret() ? value.inside() : value;
  const Value& bare_target = target.is_secret() ? target.inside() : target;
  if (TRY(holds(bare_value, assertion, bare_target)))
    return {};
  return world_error(cat("assertion failed: `", write_json(value), "` ", assertion, " `",
                         write_json(target), "` does not hold"));
}

Result<Value> result_field(const Value& result, std::string_view field) {
  if (const Value* found = follow(result, field); found != nullptr && !field.empty())
    return *found;
  std::vector<std::string> fields;
  for (const Entry& entry : result.entries())
    fields.push_back(entry.key.str());
  return user_error(cat("the result has no field `", field, "`", suggestion(field, fields)));
}

}  // namespace fettle
