#include "kinds/schema.h"

#include "base/text.h"

namespace fettle {
namespace {

bool fits(const Value& value, Field::Type type) {
  if (value.is_deferred() || value.is_unknown())
    return true;
  if (value.is_secret())
    return fits(value.inside(), type);
  switch (type) {
    case Field::text:
      return value.is_text();
    case Field::integer:
      return value.is_integer();
    case Field::boolean:
      return value.is_bool();
    case Field::list:
      return value.is_list();
    case Field::dict:
      return value.is_dict();
    case Field::any:
      return true;
  }
  return false;
}

std::string_view name_of(Field::Type type) {
  constexpr std::array<std::string_view, 6> names{"a string", "an integer", "a bool",
                                                  "a list",   "a dict",     "anything"};
  return names[type];
}

}  // namespace

Result<Value> Schema::normalise(const Value& attributes) const {
  if (!attributes.is_dict())
    return user_error(cat("expected a dict of attributes, got ", to_string(attributes.type())));
  std::vector<Entry> normal;
  for (const Field& field : fields_) {
    const Value* given = attributes.find(field.name);
    // Null says the same as leaving it out.
    if (given == nullptr || (given->is_null() && field.type != Field::any)) {
      if (!field.otherwise)
        return user_error(cat("attribute `", field.name, "` is missing"));
      normal.push_back({field.name, *field.otherwise});
      continue;
    }
    if (!fits(*given, field.type))
      return user_error(cat("attribute `", field.name, "` must be ", name_of(field.type), ", got ",
                            to_string(given->type())));
    normal.push_back({field.name, *given});
  }
  std::vector<std::string> names;
  for (const Field& field : fields_)
    names.push_back(field.name);
  for (const Entry& entry : attributes.entries())
    if (std::find(names.begin(), names.end(), entry.key.view()) == names.end())
      return user_error(cat("unknown attribute `", entry.key, "`", suggestion(entry.key, names)));
  return Value::dict(std::move(normal));
}

}  // namespace fettle
