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

bool is_unreadable(Tag tag) {
  return tag == Tag::unset || tag == Tag::unknown || tag == Tag::reference;
}

/// The attributes of an instance that are no relations. A missing one is withheld, or an error.
Result<std::vector<std::pair<std::string_view, Datum>>> attributes_of(
    PluginCall& call, Instance* instance, std::vector<Withheld>* withheld) {
  std::vector<std::pair<std::string_view, Datum>> made;
  const Entity& entity = *instance->entity;
  bool waits = false;
  for (uint32_t slot = 0; slot < entity.slots.size(); ++slot) {
    if (entity.slots[slot]->shape != Shape::value)
      continue;
    const std::string_view name = call.context.program().symbols.name(entity.slots[slot]->name);
    const Tag tag = instance->cells[slot].value.tag;
    if (withheld != nullptr && is_unreadable(tag)) {
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
  using Product = Result<starlark::Value>;
  PluginCall& call;
  starlark::Thread& thread;
  PluginLoan& lent;

  Product unset() const { return starlark::Value::none(); }
  Product null() const { return starlark::Value::none(); }
  Product unknown() const { return hide(Datum::unknown()); }
  Product reference(const Datum& datum) const { return hide(datum); }
  Product boolean(bool value) const { return starlark::Value::boolean(value); }
  Product integer(int64_t value) const { return thread.heap().integer(value); }
  Product large(std::string_view digits) const { return thread.heap().integer(digits); }
  Product real(double value) const { return thread.heap().real(value); }
  Product text(std::string_view text) const { return thread.heap().text(text); }
  Product list(const List& list) const {
    std::vector<starlark::Value> items;
    for (const Datum& item : list.items)
      items.push_back(TRY(to_starlark(call, thread, item, lent)));
    return noted(thread.heap().list(items));
  }
  Product dict(const Dict& dict) const { return noted(thread.heap().dict(TRY(named(dict)))); }
  Product instance(Instance* instance) const {
    std::vector<starlark::NamedValue> fields{
        {identity, thread.heap().integer(static_cast<int64_t>(instance->number))}};
    std::vector<Withheld>* const withheld = lent.withholds ? &lent.withheld : nullptr;
    for (const auto& [name, value] : TRY(attributes_of(call, instance, withheld)))
      fields.push_back({name, TRY(to_starlark(call, thread, value, lent))});
    return thread.heap().structure(fields);
  }

 private:
  Product hide(const Datum& datum) const {
    const starlark::Value value = thread.heap().unknown();
    if (value.is_error())
      return thread.limit_reached();
    lent.hidden.emplace_back(thread, value, datum);
    return value;
  }
  starlark::Value noted(starlark::Value container) const {
    lent.containers.insert(container.word());
    return container;
  }
  Result<std::vector<starlark::NamedValue>> named(const Dict& dict) const {
    std::vector<starlark::NamedValue> entries;
    for (const DictEntry& entry : dict.entries)
      entries.push_back({entry.key->view, TRY(to_starlark(call, thread, entry.value, lent))});
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
                                    PluginLoan& lent) {
  return convert(datum, StarlarkMaker{call, thread, lent});
}

const PluginLoan::HiddenDatum* PluginLoan::find(starlark::Value value) const {
  if (!starlark::is_unknown(value))
    return nullptr;
  const auto found = std::ranges::find_if(hidden, [&](const HiddenDatum& one) {
    return one.stands_for_it.get().word() == value.word();
  });
  return found == hidden.end() ? nullptr : &*found;
}

namespace {
Error reads(PluginCall& call, const PluginLoan::HiddenDatum& hidden) {
  return hidden.datum.tag == Tag::unknown ? reads_unknown(call) : reads_reference();
}
}  // namespace

Status check_looks(PluginCall& call, const PluginLoan& lent) {
  for (const PluginLoan::HiddenDatum& hidden : lent.hidden)
    if (starlark::was_looked_at(hidden.stands_for_it.get()))
      return reads(call, hidden);
  return {};
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
      return user_error("a plugin returned something that is not a value");
  }
}

namespace {

/// The answer of a plugin in Starlark, with each shared part once.
class Answer {
 public:
  Answer(PluginCall& call, starlark::Thread& thread, const PluginLoan& lent)
      : call_(call), thread_(thread), lent_(lent) {}

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
        if (const PluginLoan::HiddenDatum* const hidden = lent_.find(value))
          return reads(call_, *hidden);
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

  /// A part of a lent value may be hidden.
  Result<Datum> part(starlark::Value value, bool is_lent, uint32_t depth) {
    const PluginLoan::HiddenDatum* const hidden = is_lent ? lent_.find(value) : nullptr;
    return hidden != nullptr ? hidden->datum : of(value, depth);
  }

  Result<Datum> container(starlark::Value value, uint32_t depth) {
    using Type = starlark::Type;
    const bool is_lent = lent_.containers.contains(value.word());
    std::vector<std::pair<std::string, starlark::Value>> fields;
    switch (starlark::type_of(value)) {
      case Type::list:
      case Type::tuple: {
        std::vector<Datum> items;
        for (size_t i = 0; i < starlark::length_of(value); ++i)
          items.push_back(TRY(part(starlark::item_of(value, i), is_lent, depth)));
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
    if (!is_lent)
      std::ranges::sort(fields, {},
                        [](const auto& field) -> const std::string& { return field.first; });
    std::vector<DictEntry> entries;
    for (const auto& [name, item] : fields)
      entries.push_back({call_.context.make_text(name).text, TRY(part(item, is_lent, depth))});
    return call_.context.make_dict(entries);
  }

  PluginCall& call_;
  starlark::Thread& thread_;
  const PluginLoan& lent_;
  std::unordered_map<uint64_t, Datum> known_;  ///< by the word of the value
};

}  // namespace

Result<Datum> from_starlark(PluginCall& call, starlark::Thread& thread, starlark::Value value,
                            const PluginLoan& lent) {
  return Answer(call, thread, lent).of(value);
}

}  // namespace fettle::model
