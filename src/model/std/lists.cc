/// Plugins over lists.

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"
#include "model/values/numbers.h"

namespace fettle::model {
namespace {

constexpr int64_t longest_sequence = 50'000'000;

bool sequence(PluginCall& call) {
  const int64_t count = call.integer(0);
  if (count > longest_sequence)
    return call.fail("MemoryError: the sequence is too long");
  if (!call.has_room(2 * sizeof(Datum) * static_cast<uint64_t>(std::max<int64_t>(count, 0))))
    return false;
  std::vector<Datum> items;
  items.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (int64_t i = 0; i < count; ++i)
    items.push_back(sum(call.context.program().arena, call[1], Datum::of(i)));
  return call.give_list(items);
}

bool count(PluginCall& call) {
  return call.give(Datum::of(static_cast<int64_t>(call.items(0).size())));
}

bool len(PluginCall& call) {
  for (const Datum& item : call.items(0))
    if (item.tag == Tag::unknown)
      return call.give(Datum::unknown());
  return count(call);
}

/// Python's `a < b`. None: the two have no order.
std::optional<bool> is_less(const Datum& a, const Datum& b) {
  if (a.is_number() && b.is_number())
    return order_of(a, b) < 0;
  if (a.tag != Tag::text || b.tag != Tag::text)
    return std::nullopt;
  return a.view() < b.view();
}

struct Row {
  std::vector<Datum> keys;
  Datum item;
};

/// Python's message about two rows that cannot be compared; else empty.
std::string find_disorder(const std::vector<Row>& rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    for (size_t k = 0; k < rows[i].keys.size(); ++k)
      if (const Datum &a = rows[i].keys[k], &b = rows[0].keys[k]; !is_less(a, b))
        return cat("TypeError: '<' not supported between instances of '", python_type(a), "' and '",
                   python_type(b), "'");
  return {};
}

// A plugin that reads an unknown within an argument has an unknown result.

bool key_sort(PluginCall& call) {
  std::vector<Datum> names{call[1]};
  if (call[1].tag == Tag::list)
    names.assign(call.items(1).begin(), call.items(1).end());
  for (const Datum& name : names)
    if (name.tag != Tag::text)
      return call.fail("TypeError: attribute name must be a string");
  if (!call.has_room((2 * sizeof(Row) + 2 * sizeof(Datum) * names.size()) * call.items(0).size()))
    return false;
  std::vector<Row> rows;
  bool waits = false;
  for (const Datum& item : call.items(0)) {
    if (item.tag == Tag::unknown)
      return call.give(item);
    Row& row = rows.emplace_back(Row{{}, item});
    for (const Datum& name : names) {
      Datum& key = row.keys.emplace_back();
      waits |= !call.read(item, name.view(), key);
      if (!call.exception.empty())
        return false;
      if (key.tag == Tag::unknown)
        return call.give(key);
    }
  }
  if (waits)
    return false;
  if (std::string error = find_disorder(rows); !error.empty())
    return call.fail(std::move(error));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    for (size_t i = 0; i < a.keys.size(); ++i) {
      if (*is_less(a.keys[i], b.keys[i]))
        return true;
      if (*is_less(b.keys[i], a.keys[i]))
        return false;
    }
    return false;
  });
  std::vector<Datum> items;
  for (const Row& row : rows)
    items.push_back(row.item);
  return call.give_list(items);
}

bool unique(PluginCall& call) {
  constexpr uint64_t each = 128;  // of a set of texts
  if (!call.has_room(each * call.items(0).size()))
    return false;
  std::unordered_set<std::string> seen;
  for (const Datum& item : call.items(0)) {
    if (item.tag == Tag::unknown)
      return call.give(item);
    if (item.tag == Tag::dict || item.tag == Tag::list)
      return call.fail(cat("TypeError: unhashable type: '", python_type(item), "'"));
    std::string key;
    append_key(key, item);
    if (!seen.insert(key).second)
      return call.give(Datum::of(false));
  }
  return call.give(Datum::of(true));
}

/// Appends the items over which Python would iterate. False: it would not.
bool append_items(PluginCall& call, const Datum& value, std::vector<Datum>& items) {
  const uint64_t size = value.tag == Tag::text   ? 6 * value.view().size()
                        : value.tag == Tag::list ? value.list->items.size()
                                                 : 0;
  if (!call.has_room(3 * sizeof(Datum) * (items.size() + size)))
    return false;
  if (value.tag == Tag::list) {
    items.insert(items.end(), value.list->items.begin(), value.list->items.end());
  } else if (value.tag == Tag::dict) {
    for (const DictEntry& entry : value.dict->entries)
      items.push_back(Datum::of(entry.key));
  } else if (value.tag == Tag::text) {
    for (size_t at = 0, end = 0; at < value.view().size(); at = end) {
      end = at + 1;
      while (end < value.view().size() && (value.view()[end] & 0xC0) == 0x80)
        ++end;
      items.push_back(call.context.make_text(value.view().substr(at, end - at)));
    }
  } else {
    return call.fail(cat("TypeError: '", python_type(value), "' object is not iterable"));
  }
  return true;
}

bool flatten(PluginCall& call) {
  std::vector<Datum> items;
  for (const Datum& item : call.items(0)) {
    if (item.tag == Tag::unknown)
      return call.give(item);
    if (!append_items(call, item, items))
      return false;
  }
  for (const Datum& item : items)
    if (item.tag == Tag::unknown)
      return call.give(item);
  return call.give_list(items);
}

/// `value[index]` of a list or text.
bool element(PluginCall& call, const Datum& value, int64_t index, Datum& found) {
  if (value.tag != Tag::list && value.tag != Tag::text)
    return call.fail(value.tag == Tag::dict ? cat("KeyError: ", index)
                                            : cat("TypeError: '", python_type(value),
                                                  "' object is not subscriptable"));
  std::vector<Datum> items;
  append_items(call, value, items);
  const int64_t size = static_cast<int64_t>(items.size());
  const int64_t position = index < 0 ? index + size : index;
  if (position < 0 || position >= size)
    return call.fail(
        cat("IndexError: ", value.tag == Tag::list ? "list" : "string", " index out of range"));
  found = items[static_cast<size_t>(position)];
  return true;
}

bool item(PluginCall& call) {
  std::vector<Datum> items;
  for (const Datum& value : call.items(0)) {
    items.emplace_back();
    if (!element(call, value, call.integer(1), items.back()))
      return false;
  }
  return call.give_list(items);
}

bool at(PluginCall& call) {
  Datum found;
  return element(call, call[0], call.integer(1), found) && call.give(found);
}

bool select(PluginCall& call) {
  std::vector<Datum> items;
  bool waits = false;
  for (const Datum& item : call.items(0)) {
    if (item.tag == Tag::unknown)
      return call.give(item);
    items.emplace_back();
    waits |= !call.read(item, call.text(1), items.back());
    if (!call.exception.empty())
      return false;
    if (items.back().tag == Tag::unknown)
      return call.give(items.back());
  }
  return !waits && call.give_list(items);
}

bool filter(PluginCall& call) {
  std::vector<Datum> items;
  for (const Datum& item : call.items(0)) {
    if (item.tag == Tag::unknown)
      return call.give(item);
    if (!is_equal(item, call[1]) && call.has_room(0))
      items.push_back(item);
  }
  return call.give_list(items);
}

constexpr std::array lists_rows{
    PluginRow{"sequence", "(i: int, start: int = 0) -> list", sequence},
    PluginRow{"count", "(item_list: (Reference[any] | any)[]) -> int", count},
    PluginRow{"len", "(item_list: (Reference[any] | any)[]) -> int", len},
    PluginRow{"key_sort", "(items: list, key: any) -> list", key_sort},
    PluginRow{"unique", "(item_list: list) -> bool", unique},
    PluginRow{"flatten", "(item_list: list) -> list", flatten},
    PluginRow{"item", "(objects: list, index: int) -> list", item},
    PluginRow{"at", "(objects: (Reference[any] | any)[], index: int) -> any", at},
    PluginRow{"select", "(objects: list, attr: string) -> list", select},
    PluginRow{"filter", "(values: list, not_item: std::Entity) -> list", filter},
};

}  // namespace

std::span<const PluginRow> lists_plugins() { return lists_rows; }

}  // namespace fettle::model
