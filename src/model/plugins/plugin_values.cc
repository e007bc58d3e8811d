#include "model/plugins/plugin_values.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "model/evaluate/plugin_context.h"
#include "model/values/numbers.h"
#include "model/values/plain_value.h"

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
    waits |= !call.context.read_or_null(instance, slot, value);
    made.emplace_back(call.context.program().symbols.name(entity.slots[slot]->name), value);
  }
  if (waits)
    return user_error("an attribute is not set yet");
  return made;
}

Datum instance_of(PluginCall& call, const Value& number) {
  const std::optional<int64_t> index = number.is_integer() ? number.integer() : std::nullopt;
  const auto instances = call.context.instances();
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
      return whole_of(call.context.program().arena, value.integer_digits());
    case Sort::real:
      return Datum::of(value.real());
    case Sort::text:
      return call.context.make_text(value.text().view());
    case Sort::list: {
      std::vector<Datum> items;
      for (const Value& item : value.items())
        items.push_back(from_value(call, item));
      return call.context.make_list(items);
    }
    case Sort::dict: {
      if (const Value* number = value.find(identity))
        return instance_of(call, *number);
      std::vector<DictEntry> entries;
      for (const Entry& entry : value.entries())
        entries.push_back(
            {call.context.make_text(entry.key.view()).text, from_value(call, entry.value)});
      return call.context.make_dict(entries);
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

namespace {

/// What a plugin in Starlark answers, each shared part once.
class Answer {
 public:
  Answer(PluginCall& call, starlark::Thread& thread) : call_(call), thread_(thread) {}

  Result<Datum> of(starlark::Value value, uint32_t depth = 0) {
    if (depth > deepest_value)
      return user_error("value is nested too deeply");
    if (!thread_.charge(2))
      return thread_.limit_reached();
    if (!call_.context.budget().spend(2))
      return user_error(call_.context.budget().refusal());
    using Type = starlark::Type;
    switch (starlark::type_of(value)) {
      case Type::none:
        return Datum::null();
      case Type::boolean:
        return Datum::of(starlark::truth_of(value));
      case Type::integer:
        if (const std::optional<int64_t> small = starlark::integer_of(value))
          return Datum::of(*small);
        return whole_of(call_.context.program().arena, TRY(starlark::str_of(thread_, value)));
      case Type::real:
        return TRY(real(value));
      case Type::text:
      case Type::bytes:
        return call_.context.make_text(starlark::text_of(value));
      case Type::list:
      case Type::tuple:
      case Type::set:
      case Type::dict:
      case Type::structure:
      case Type::record:
      case Type::module: {
        if (const auto known = known_.find(value.word()); known != known_.end())
          return known->second;
        const Datum made = TRY(container(value, depth + 1));
        known_.emplace(value.word(), made);
        return made;
      }
      default:
        return from_value(call_, TRY(starlark::to_value(thread_, value)));
    }
  }

 private:
  Result<Datum> real(starlark::Value value) {
    const double number = *starlark::real_of(value);
    if (std::isfinite(number))
      return Datum::of(number);
    return user_error(cat("cannot use the non-finite float ", starlark::brief_of(value)));
  }

  Result<Datum> container(starlark::Value value, uint32_t depth) {
    using Type = starlark::Type;
    std::vector<std::pair<std::string, starlark::Value>> fields;
    switch (starlark::type_of(value)) {
      case Type::list:
      case Type::tuple: {
        std::vector<Datum> items;
        for (size_t i = 0; i < starlark::length_of(value); ++i)
          items.push_back(TRY(of(starlark::item_of(value, i), depth)));
        return call_.context.make_list(items);
      }
      case Type::set: {
        std::vector<Datum> items;
        for (const auto& [key, ignored] : starlark::entries_of(value))
          items.push_back(TRY(of(key, depth)));
        return call_.context.make_list(items);
      }
      case Type::dict:
        for (const auto& [key, item] : starlark::entries_of(value)) {
          if (starlark::type_of(key) != Type::text)
            return user_error(cat("dict has ", starlark::type_name(key), " key, want string"));
          fields.emplace_back(starlark::text_of(key), item);
        }
        break;
      default:
        for (auto& [name, item] : starlark::fields_of(value))
          if (starlark::type_of(item) != Type::builtin)
            fields.emplace_back(name, item);
    }
    for (const auto& [name, item] : fields)
      if (name == identity)
        return instance_of(call_, TRY(starlark::to_value(thread_, item)));
    std::ranges::sort(fields, {},
                      [](const auto& field) -> const std::string& { return field.first; });
    std::vector<DictEntry> entries;
    for (const auto& [name, item] : fields)
      entries.push_back({call_.context.make_text(name).text, TRY(of(item, depth))});
    return call_.context.make_dict(entries);
  }

  PluginCall& call_;
  starlark::Thread& thread_;
  std::unordered_map<uint64_t, Datum> known_;  ///< by the word of the value
};

}  // namespace

Result<Datum> from_starlark(PluginCall& call, starlark::Thread& thread, starlark::Value value) {
  return Answer(call, thread).of(value);
}

}  // namespace fettle::model
