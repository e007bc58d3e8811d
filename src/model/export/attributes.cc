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

std::pair<const Instance*, uint32_t> end_of_path(const Model& model, const Instance& instance,
                                                 std::string_view path) {
  const size_t dot = path.rfind('.');
  const Datum* const owner =
      dot == path.npos ? nullptr : follow_path(model, instance, path.substr(0, dot));
  if (dot != path.npos && (owner == nullptr || owner->tag != Tag::instance))
    return {nullptr, no_slot};
  const Instance* const end = dot == path.npos ? &instance : owner->instance;
  for (uint32_t slot = 0; slot < end->entity->slots.size(); ++slot)
    if (model.program.symbols.name(end->entity->slots[slot]->name) ==
        path.substr(dot == path.npos ? 0 : dot + 1))
      return {end, slot};
  return {nullptr, no_slot};
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
