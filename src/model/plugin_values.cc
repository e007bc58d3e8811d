#include "model/plugin_values.h"

#include "base/text.h"
#include "model/machine.h"
#include "model/plain_value.h"

namespace fettle::model {
namespace {

constexpr std::string_view identity = "__instance__";

/// The values of an instance that are no relations; an error when one is not there yet.
Result<std::vector<std::pair<std::string_view, Datum>>> attributes_of(PluginCall& call,
                                                                      Instance* instance) {
  std::vector<std::pair<std::string_view, Datum>> made;
  const Entity& entity = *instance->entity;
  bool waits = false;
  for (uint32_t slot = 0; slot < entity.slots.size(); ++slot) {
    if (entity.slots[slot]->shape != Shape::value)
      continue;
    Datum value;
    waits |= !call.machine.read_or_null(instance, slot, value);
    made.emplace_back(call.machine.program().symbols.name(entity.slots[slot]->name), value);
  }
  if (waits)
    return user_error("an attribute is not set yet");
  return made;
}

Datum instance_of(PluginCall& call, const Value& number) {
  const std::optional<int64_t> index = number.is_integer() ? number.integer() : std::nullopt;
  const auto instances = call.machine.instances();
  return index && *index >= 0 && static_cast<size_t>(*index) < instances.size()
             ? Datum::of(instances[static_cast<size_t>(*index)])
             : Datum::unknown();
}

}  // namespace

Result<Value> to_value(PluginCall& call, const Datum& datum) {
  return to_value(datum, [&](const Datum& special) -> Result<Value> {
    if (special.tag == Tag::unknown)
      return user_error("an unknown value cannot leave the model");
    if (special.tag == Tag::reference)
      return user_error("a reference cannot leave the model");
    std::vector<Entry> entries{
        {fettle::Name(identity), Value(static_cast<int64_t>(special.instance->number))}};
    for (const auto& [name, value] : TRY(attributes_of(call, special.instance)))
      entries.push_back({fettle::Name(name), TRY(to_value(call, value))});
    return Value::dict(std::move(entries));
  });
}

Datum from_value(PluginCall& call, const Value& value) {
  using Sort = Value::Type;
  switch (value.type()) {
    case Sort::null:
      return Datum::null();
    case Sort::boolean:
      return Datum::of(value.boolean());
    case Sort::integer:
      return whole_of(call.machine.program().arena, value.integer_digits());
    case Sort::real:
      return Datum::of(value.real());
    case Sort::text:
      return call.machine.make_text(value.text().view());
    case Sort::list: {
      std::vector<Datum> items;
      for (const Value& item : value.items())
        items.push_back(from_value(call, item));
      return call.machine.make_list(items);
    }
    case Sort::dict: {
      if (const Value* number = value.find(identity))
        return instance_of(call, *number);
      std::vector<DictEntry> entries;
      for (const Entry& entry : value.entries())
        entries.push_back(
            {call.machine.make_text(entry.key.view()).text, from_value(call, entry.value)});
      return call.machine.make_dict(entries);
    }
    default:
      return Datum::unknown();
  }
}

Result<starlark::Value> to_starlark(PluginCall& call, starlark::Thread& thread,
                                    const Datum& datum) {
  starlark::HeapAccess heap = thread.heap();
  if (datum.tag == Tag::list) {
    std::vector<starlark::Value> items;
    for (const Datum& item : datum.list->items)
      items.push_back(TRY(to_starlark(call, thread, item)));
    return heap.list(items);
  }
  if (datum.tag == Tag::dict) {
    std::vector<starlark::Named> entries;
    for (const DictEntry& entry : datum.dict->entries)
      entries.push_back({entry.key->view, TRY(to_starlark(call, thread, entry.value))});
    return heap.dict(entries);
  }
  if (datum.tag == Tag::instance) {
    std::vector<starlark::Named> fields{
        {identity, heap.integer(static_cast<int64_t>(datum.instance->number))}};
    for (const auto& [name, value] : TRY(attributes_of(call, datum.instance)))
      fields.push_back({name, TRY(to_starlark(call, thread, value))});
    return heap.structure(fields);
  }
  return heap.value(TRY(to_value(call, datum)));
}

Result<Datum> from_starlark(PluginCall& call, starlark::Value value) {
  return from_value(call, TRY(starlark::to_value(value)));
}

}  // namespace fettle::model
