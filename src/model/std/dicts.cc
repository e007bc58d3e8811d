/// Plugins over dicts.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool dict_keys(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::dict, "a dict", error))
    return false;
  std::vector<Datum> keys;
  for (const DictEntry& entry : arguments[0].dict->entries)
    keys.push_back(Datum::of(entry.key));
  result = machine.make_list(keys);
  return true;
}

constexpr std::array plugins{
    Plugin{"dict_keys", 1, 1, false, "dct", dict_keys},
};

}  // namespace

std::span<const Plugin> dicts_plugins() { return plugins; }

}  // namespace fettle::model
