#include "model/export/attributes.h"

#include "base/text.h"

namespace fettle::model {

Result<Value> to_value(const Model& model, const Datum& datum) {
  switch (datum.tag) {
    case Tag::unset:
    case Tag::null:
      return Value();
    case Tag::unknown:
      return Value::unknown();
    case Tag::boolean:
      return Value(datum.boolean);
    case Tag::integer:
      return Value(datum.integer);
    case Tag::floating:
      return Value(datum.floating);
    case Tag::text:
      return Value(datum.view());
    case Tag::list: {
      std::vector<Value> items;
      for (const Datum& item : datum.list->items)
        items.push_back(TRY(to_value(model, item)));
      return Value::list(std::move(items));
    }
    case Tag::dict: {
      std::vector<Entry> entries;
      for (const DictEntry& entry : datum.dict->entries)
        entries.push_back({fettle::Name(entry.key->view), TRY(to_value(model, entry.value))});
      return Value::dict(std::move(entries));
    }
    default:
      break;
  }
  return user_error(datum.tag == Tag::instance
                        ? cat("an instance of ", datum.instance->entity->full_name,
                              " cannot be an attribute of a resource")
                        : "a value of this type cannot be an attribute of a resource");
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
