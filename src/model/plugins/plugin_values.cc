#include "model/plugins/plugin_values.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "model/evaluate/plugin_context.h"
#include "model/values/convert.h"
#include "model/values/numbers.h"
#include "model/values/plain_value.h"

namespace fettle::model {
namespace {

constexpr std::string_view identity = "__instance__";

/// Unset, unknown or reference, when a value is or holds one; else null.
Tag find_unreadable(const Datum& datum) {
  const auto first = [](const auto& parts, const auto& value_of) {
    for (const auto& part : parts)
      if (const Tag tag = find_unreadable(value_of(part)); tag != Tag::null)
        return tag;
    return Tag::null;
  };
  switch (datum.tag) {
    case Tag::unset:
    case Tag::unknown:
    case Tag::reference:
      return datum.tag;
    case Tag::list:
      return first(datum.list->items, [](const Datum& item) { return item; });
    case Tag::dict:
      return first(datum.dict->entries, [](const DictEntry& entry) { return entry.value; });
    default:
      return Tag::null;
  }
}

/// The values of an instance that are no relations. What is not there is withheld, or an error.
Result<std::vector<std::pair<std::string_view, Datum>>> attributes_of(
    PluginCall& call, Instance* instance, std::vector<Withheld>* withheld) {
  std::vector<std::pair<std::string_view, Datum>> made;
  const Entity& entity = *instance->entity;
  bool waits = false;
  for (uint32_t slot = 0; slot < entity.slots.size(); ++slot) {
    if (entity.slots[slot]->shape != Shape::value)
      continue;
    const std::string_view name = call.context.program().symbols.name(entity.slots[slot]->name);
    if (withheld != nullptr)
      if (const Tag tag = find_unreadable(instance->cells[slot].value); tag != Tag::null) {
        withheld->push_back({std::string(name), instance, slot, tag});
        continue;
      }
    const Member found = call.context.member(instance, slot);
    waits |= found.state == Member::State::waits;
    made.emplace_back(name, found.value);
  }
  if (waits)
    return user_error("an attribute is not set yet");
  return made;
}

Error reads_unknown(PluginCall& call) {
  call.met_unknown = true;
  return user_error("an unknown value cannot leave the model");
}

Error reads_reference() { return user_error(reference_text("a value")); }

Result<Datum> instance_of(PluginCall& call, const Value& number) {
  const std::optional<int64_t> index = number.is_integer() ? number.integer() : std::nullopt;
  const auto instances = call.context.instances();
  if (!index || *index < 0 || static_cast<size_t>(*index) >= instances.size())
    return user_error(cat("there is no instance with `", identity, "` ", to_text(number)));
  return Datum::of(instances[static_cast<size_t>(*index)]);
}

struct StarlarkMaker {
  using Made = Result<starlark::Value>;
  PluginCall& call;
  starlark::Thread& thread;
  std::vector<Withheld>* withheld;

  Made unset() const { return starlark::Value::none(); }
  Made null() const { return starlark::Value::none(); }
  Made unknown() const { return reads_unknown(call); }
  Made reference(const Datum&) const { return reads_reference(); }
  Made boolean(bool value) const { return starlark::Value::boolean(value); }
  Made integer(int64_t value) const { return thread.heap().integer(value); }
  Made large(std::string_view digits) const { return thread.heap().integer(digits); }
  Made real(double value) const { return thread.heap().real(value); }
  Made text(std::string_view text) const { return thread.heap().text(text); }
  Made list(const List& list) const {
    std::vector<starlark::Value> items;
    for (const Datum& item : list.items)
      items.push_back(TRY(to_starlark(call, thread, item, withheld)));
    return thread.heap().list(items);
  }
  Made dict(const Dict& dict) const { return thread.heap().dict(TRY(named(dict))); }
  Made instance(Instance* instance) const {
    std::vector<starlark::Named> fields{
        {identity, thread.heap().integer(static_cast<int64_t>(instance->number))}};
    for (const auto& [name, value] : TRY(attributes_of(call, instance, withheld)))
      fields.push_back({name, TRY(to_starlark(call, thread, value, withheld))});
    return thread.heap().structure(fields);
  }

 private:
  Result<std::vector<starlark::Named>> named(const Dict& dict) const {
    std::vector<starlark::Named> entries;
    for (const DictEntry& entry : dict.entries)
      entries.push_back({entry.key->view, TRY(to_starlark(call, thread, entry.value, withheld))});
    return entries;
  }
};

}  // namespace

std::string reference_text(std::string_view name) {
  return cat("Encountered unexpected reference value during plugin execution: ", name,
             " is a reference, which is not known before the model is deployed");
}

Result<Value> to_value(PluginCall& call, const Datum& datum) {
  return to_value(datum, [&](const Datum& special) -> Result<Value> {
    if (special.tag == Tag::unknown)
      return reads_unknown(call);
    if (special.tag == Tag::reference)
      return reads_reference();
    std::vector<Entry> entries{
        {fettle::Name(identity), Value(static_cast<int64_t>(special.instance->number))}};
    for (const auto& [name, value] : TRY(attributes_of(call, special.instance, nullptr)))
      entries.push_back({fettle::Name(name), TRY(to_value(call, value))});
    return Value::dict(std::move(entries));
  });
}

Result<starlark::Value> to_starlark(PluginCall& call, starlark::Thread& thread, const Datum& datum,
                                    std::vector<Withheld>* withheld) {
  return convert(datum, StarlarkMaker{call, thread, withheld});
}

Result<Datum> from_value(PluginCall& call, const Value& value) {
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
        items.push_back(TRY(from_value(call, item)));
      return call.context.make_list(items);
    }
    case Sort::dict: {
      if (const Value* number = value.find(identity))
        return instance_of(call, *number);
      std::vector<DictEntry> entries;
      for (const Entry& entry : value.entries())
        entries.push_back(
            {call.context.make_text(entry.key.view()).text, TRY(from_value(call, entry.value))});
      return call.context.make_dict(entries);
    }
    default:
      return user_error("a plugin gave what is no value");
  }
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
