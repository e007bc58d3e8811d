/// Plugins that ask for the surroundings of a compile.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

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
    Plugin{"get_env", 1, 2, false, "name default_value", get_env},
};

}  // namespace

std::span<const Plugin> environment_plugins() { return plugins; }

}  // namespace fettle::model
