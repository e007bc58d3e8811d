#include "model/export/attributes.h"

#include "base/text.h"
#include "model/values/plain_value.h"

namespace fettle::model {

Result<Value> attribute_value(const Datum& datum) {
  return to_value(datum, [](const Datum& special) -> Result<Value> {
    if (special.tag == Tag::unknown)
      return Value::unknown();
    if (special.tag == Tag::reference)
      return user_error("a reference has no value before the resource is deployed");
    return user_error(cat("an instance of ", special.instance->entity->full_name,
                          " cannot be an attribute of a resource"));
  });
}

const Datum* follow_path(const Model& model, const Instance& instance, std::string_view path) {
  const Instance* at = &instance;
  while (true) {
    const size_t dot = path.find('.');
    const Datum* value = model.value(*at, path.substr(0, dot));
    if (value == nullptr || dot == path.npos)
      return value;
    if (value->tag == Tag::unknown)
      return value;
    if (value->tag != Tag::instance)
      return nullptr;
    at = value->instance;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace fettle::model
