/// Plugins over dicts, and JSON.

#include <charconv>

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"
#include "model/std/json.h"
#include "value/python.h"

namespace fettle::model {
namespace {

bool dict_keys(PluginCall& call) {
  std::vector<Datum> keys;
  for (const DictEntry& entry : call[0].dict->entries)
    keys.push_back(Datum::of(entry.key));
  return call.give_list(keys);
}

bool dict_get(PluginCall& call) {
  const Datum* found = call[0].dict->find(call.text(1));
  return found != nullptr ? call.give(*found)
                          : call.fail(cat("KeyError: ", python::quoted(call.text(1))));
}

bool contains(PluginCall& call) {
  const Datum* const found = call[0].dict->find(call.text(1));
  const bool is_unknown = found != nullptr && found->tag == Tag::unknown;
  return call.give(is_unknown ? *found : Datum::of(found != nullptr));
}

bool json_loads(PluginCall& call) {
  Datum value;
  std::string error;
  return read_python_json(call.context, call.text(0), value, error) ? call.give(value)
                                                                    : call.fail(error);
}

/// Whether it contains an unknown anywhere.
bool holds_unknown(const Datum& value) {
  std::vector<Datum> open{value};
  while (!open.empty() && Budget::current().spend(1)) {
    const Datum one = open.back();
    open.pop_back();
    if (one.tag == Tag::unknown)
      return true;
    if (one.tag == Tag::list)
      open.insert(open.end(), one.list->items.begin(), one.list->items.end());
    if (one.tag == Tag::dict)
      for (const DictEntry& entry : one.dict->entries)
        open.push_back(entry.value);
  }
  return false;
}

bool json_dumps(PluginCall& call) {
  if (holds_unknown(call[0]))
    return call.give(Datum::unknown());
  std::string text;
  std::string error;
  return write_python_json(call.context.program(), call[0], text, error) ? call.give_text(text)
                                                                         : call.fail(error);
}

constexpr std::array dicts_rows{
    PluginRow{"dict_keys", "(dct: dict[string, any]) -> list[str]", dict_keys},
    PluginRow{"dict_get", "(dct: dict, key: string) -> string", dict_get},
    PluginRow{"contains", "(dct: dict, key: string) -> bool", contains},
    PluginRow{"json_loads", "(s: string) -> any", json_loads},
    PluginRow{"json_dumps", "(obj: object) -> string", json_dumps},
};

}  // namespace

std::span<const PluginRow> dicts_plugins() { return dicts_rows; }

}  // namespace fettle::model
