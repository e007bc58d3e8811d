#include "kinds/recipe.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "value/json.h"
#include "value/with.h"

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

const Members& Recipe::members_of_type() const {
  static const Members of_exec{
      required<&Recipe::type>("type", "`exec`"), required<&Recipe::command>("command", "[text]"),
      member<&Recipe::extract>("extract", "{key: jq expression over the output}")};
  static const Members of_request{
      required<&Recipe::type>("type", "`get` or `post`"),
      required<&Recipe::port>("port", "id of a port of the service"),
      required<&Recipe::endpoint>("endpoint", "path and query"),
      member<&Recipe::headers>("headers", "{name: text}"),
      member<&Recipe::body>("body", "of a `post`"),
      member<&Recipe::content_type>("content_type", "of the body"),
      member<&Recipe::extract>("extract", "{key: jq expression over the body}")};
  static const Members of_exit{required<&Recipe::type>("type", "`exit`")};
  return is_command() ? of_exec : is_exit() ? of_exit : of_request;
}

void MemberType<Recipe>::set(Recipe& recipe, const Value& value) {
  MemberType<Name>::set(recipe.type, value.at("type"));
  recipe.members_of_type().read(&recipe, value);
}

Result<Recipe> normal_recipe(const Value& given) {
  Recipe recipe;
  MemberType<Name>::set(recipe.type, given.at("type"));
  if (!recipe.is_command() && !recipe.is_exit() && recipe.type != "get" && recipe.type != "post")
    return user_error(cat("unknown type of recipe `", recipe.type,
                          "`, expected `exec`, `exit`, `get` or `post`"));
  MemberType<Recipe>::set(recipe, TRY(recipe.members_of_type().normalise(given)));
  return recipe;
}

Result<Attributes> with_normal_recipe(Attributes attributes) {
  const Recipe recipe = TRY(normal_recipe(dict_of(attributes).at("recipe")));
  return Attributes(with(dict_of(attributes), "recipe", MemberType<Recipe>::get(recipe)));
}

const Members& ExecOutputs::members() {
  static const Members all{member<&ExecOutputs::code>("code", "exit code"),
                           member<&ExecOutputs::output>("output", "its output"),
                           member<&ExecOutputs::extract>("extract", "{key: value}")};
  return all;
}

bool has_request_outputs(const Outputs& outputs) {
  return dict_of(outputs).find("body") != nullptr;
}

const Members& RequestOutputs::members() {
  static const Members all{member<&RequestOutputs::code>("code", "status of the answer"),
                           member<&RequestOutputs::body>("body", "of the answer"),
                           member<&RequestOutputs::extract>("extract", "{key: value}")};
  return all;
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
