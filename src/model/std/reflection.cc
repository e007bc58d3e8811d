/// Plugins that look at instances and their types.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool type_of(Machine& machine, Arguments arguments, Datum& result, std::string&) {
  result = arguments[0].tag == Tag::instance
               ? machine.make_text(arguments[0].instance->entity->full_name)
               : Datum::null();
  return true;
}

constexpr std::array plugins{
    Plugin{"type", 1, 1, false, "obj", type_of},
};

}  // namespace

std::span<const Plugin> reflection_plugins() { return plugins; }

}  // namespace fettle::model
