/// The plugins of `std`. One more is a row in `plugins` below.

#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {
namespace {

using Arguments = std::span<const Datum>;

bool wants(const Datum& value, Tag tag, std::string_view what, std::string& error) {
  if (value.tag == tag)
    return true;
  error = cat("the argument must be ", what);
  return false;
}

bool print(Machine& machine, Arguments arguments, Datum& result, std::string&) {
  machine.print(text_of(machine.program(), arguments[0]));
  result = Datum::null();
  return true;
}
bool is_unknown(Machine&, Arguments arguments, Datum& result, std::string&) {
  result = Datum::of(arguments[0].tag == Tag::unknown);
  return true;
}
bool assert_true(Machine&, Arguments arguments, Datum& result, std::string& error) {
  result = Datum::null();
  if (arguments[0].tag == Tag::boolean && arguments[0].boolean)
    return true;
  error = cat("Assertion error: ", arguments[1].tag == Tag::text ? arguments[1].view() : "");
  return false;
}
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
bool replace(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  for (const Datum& argument : arguments)
    if (!wants(argument, Tag::text, "a string", error))
      return false;
  result =
      machine.make_text(replace_all(arguments[0].view(), arguments[1].view(), arguments[2].view()));
  return true;
}
bool split_text(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error) ||
      !wants(arguments[1], Tag::text, "a string", error))
    return false;
  const std::string_view delimiter = arguments[1].view();
  if (delimiter.empty()) {
    error = "empty separator";
    return false;
  }
  std::vector<Datum> items;
  std::string_view rest = arguments[0].view();
  for (size_t found = rest.find(delimiter); found != std::string_view::npos;
       found = rest.find(delimiter)) {
    items.push_back(machine.make_text(rest.substr(0, found)));
    rest.remove_prefix(found + delimiter.size());
  }
  items.push_back(machine.make_text(rest));
  result = machine.make_list(items);
  return true;
}
bool upper(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(upper_case(arguments[0].view()));
  return true;
}
bool lower(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(lower_case(arguments[0].view()));
  return true;
}
bool length(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  int64_t points = 0;
  for (const char c : arguments[0].view())
    points += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  result = Datum::of(points);
  return true;
}
bool hostname(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(arguments[0].view().substr(0, arguments[0].view().find('.')));
  return true;
}
bool type_of(Machine& machine, Arguments arguments, Datum& result, std::string&) {
  result = arguments[0].tag == Tag::instance
               ? machine.make_text(arguments[0].instance->entity->full_name)
               : Datum::null();
  return true;
}
bool inline_if(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::boolean, "a bool", error))
    return false;
  result = arguments[0].boolean ? arguments[1] : arguments[2];
  return true;
}
bool invert(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::boolean, "a bool", error))
    return false;
  result = Datum::of(!arguments[0].boolean);
  return true;
}
bool dict_keys(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::dict, "a dict", error))
    return false;
  std::vector<Datum> keys;
  for (const DictEntry& entry : arguments[0].dict->entries)
    keys.push_back(Datum::of(entry.key));
  result = machine.make_list(keys);
  return true;
}
bool get_env(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  const char* value = std::getenv(std::string(arguments[0].view()).c_str());
  result = value != nullptr                ? machine.make_text(value)
           : arguments[1].tag == Tag::text ? arguments[1]
                                           : Datum::unknown();
  return true;
}

constexpr std::array plugins{
    Plugin{"print", 1, 1, false, "message", print},
    Plugin{"is_unknown", 1, 1, true, "value", is_unknown},
    Plugin{"assert", 1, 2, false, "expression message", assert_true},
    Plugin{"sequence", 1, 2, false, "i start", sequence},
    Plugin{"count", 1, 1, false, "item_list", count},
    Plugin{"len", 1, 1, false, "item_list", len},
    Plugin{"key_sort", 2, 2, false, "items key", key_sort},
    Plugin{"unique", 1, 1, false, "item", unique},
    Plugin{"flatten", 1, 1, false, "item_list", same},
    Plugin{"at", 2, 2, false, "objects index", at},
    Plugin{"replace", 3, 3, false, "string old new", replace},
    Plugin{"split", 2, 2, false, "string_list delim", split_text},
    Plugin{"upper", 1, 1, false, "value", upper},
    Plugin{"lower", 1, 1, false, "value", lower},
    Plugin{"length", 1, 1, false, "value", length},
    Plugin{"hostname", 1, 1, false, "fqdn", hostname},
    Plugin{"type", 1, 1, false, "obj", type_of},
    Plugin{"inlineif", 3, 3, false, "conditional a b", inline_if},
    Plugin{"invert", 1, 1, false, "b", invert},
    Plugin{"dict_keys", 1, 1, false, "dct", dict_keys},
    Plugin{"get_env", 1, 2, false, "name default_value", get_env},
};

}  // namespace

const Plugin* find_plugin(std::string_view space, std::string_view name) {
  if (space != "std")
    return nullptr;
  for (const Plugin& plugin : plugins)
    if (plugin.name == name)
      return &plugin;
  return nullptr;
}

}  // namespace fettle::model
