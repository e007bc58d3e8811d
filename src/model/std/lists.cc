/// Plugins over lists.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"
#include "model/text_form.h"

namespace fettle::model {
namespace {

bool sequence(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::integer, "an int", error))
    return false;
  const int64_t start = arguments[1].tag == Tag::integer ? arguments[1].integer : 0;
  if (arguments[0].integer > 50'000'000) {
    error = "the sequence is too long";
    return false;
  }
  std::vector<Datum> items;
  for (int64_t i = 0; i < arguments[0].integer; ++i)
    items.push_back(Datum::of(start + i));
  result = machine.make_list(items);
  return true;
}
bool count(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::list, "a list", error))
    return false;
  result = Datum::of(static_cast<int64_t>(arguments[0].list->items.size()));
  return true;
}
bool len(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!count(machine, arguments, result, error))
    return false;
  for (const Datum& item : arguments[0].list->items)
    if (item.tag == Tag::unknown)
      result = Datum::unknown();
  return true;
}
int compare(const Datum& a, const Datum& b) {
  if (a.is_number() && b.is_number())
    return as_float(a) < as_float(b) ? -1 : as_float(a) > as_float(b);
  return a.tag == Tag::text && b.tag == Tag::text ? a.view().compare(b.view()) : 0;
}
bool key_sort(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::list, "a list", error))
    return false;
  std::vector<Datum> names{arguments[1]};
  if (arguments[1].tag == Tag::list)
    names.assign(arguments[1].list->items.begin(), arguments[1].list->items.end());
  std::vector<std::pair<std::vector<Datum>, Datum>> rows;
  bool waits = false;
  for (const Datum& item : arguments[0].list->items) {
    std::vector<Datum> keys;
    for (const Datum& name : names) {
      if (item.tag != Tag::instance || name.tag != Tag::text) {
        error = "key_sort needs instances and names of attributes";
        return false;
      }
      const uint32_t slot =
          item.instance->entity->slot(machine.program().symbols.intern(name.view()));
      if (slot == no_slot) {
        error =
            cat("attribute ", name.view(), " not found on type ", item.instance->entity->full_name);
        return false;
      }
      Datum key;
      const Step step = machine.read_attribute(item.instance, slot, key, item.instance->at);
      if (step == Step::fail)
        return false;
      waits |= step == Step::wait;
      keys.push_back(key);
    }
    rows.emplace_back(std::move(keys), item);
  }
  if (waits)
    return false;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    for (size_t i = 0; i < a.first.size(); ++i)
      if (const int order = compare(a.first[i], b.first[i]); order != 0)
        return order < 0;
    return false;
  });
  std::vector<Datum> items;
  for (const auto& row : rows)
    items.push_back(row.second);
  result = machine.make_list(items);
  return true;
}
bool unique(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::list, "a list", error))
    return false;
  std::set<std::string> seen;
  bool is_unique = true;
  for (const Datum& item : arguments[0].list->items) {
    std::string key;
    append_key(key, item);
    is_unique &= seen.insert(key).second;
  }
  result = Datum::of(is_unique);
  return true;
}
bool same(Machine&, Arguments arguments, Datum& result, std::string&) {
  result = arguments[0];
  return true;
}
bool at(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::list, "a list", error) ||
      !wants(arguments[1], Tag::integer, "an int", error))
    return false;
  const auto& items = arguments[0].list->items;
  const int64_t size = static_cast<int64_t>(items.size());
  const int64_t index =
      arguments[1].integer < 0 ? arguments[1].integer + size : arguments[1].integer;
  if (index < 0 || index >= size) {
    error = "list index out of range";
    return false;
  }
  result = items[static_cast<size_t>(index)];
  return true;
}

constexpr std::array plugins{
    Plugin{"sequence", 1, 2, false, "i start", sequence},
    Plugin{"count", 1, 1, false, "item_list", count},
    Plugin{"len", 1, 1, false, "item_list", len},
    Plugin{"key_sort", 2, 2, false, "items key", key_sort},
    Plugin{"unique", 1, 1, false, "item", unique},
    Plugin{"flatten", 1, 1, false, "item_list", same},
    Plugin{"at", 2, 2, false, "objects index", at},
};

}  // namespace

std::span<const Plugin> lists_plugins() { return plugins; }

}  // namespace fettle::model
