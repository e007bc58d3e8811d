/// Plugins that check, choose and print.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"
#include "model/text_form.h"

namespace fettle::model {
namespace {

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

constexpr std::array plugins{
    Plugin{"print", 1, 1, false, "message", print},
    Plugin{"is_unknown", 1, 1, true, "value", is_unknown},
    Plugin{"assert", 1, 2, false, "expression message", assert_true},
    Plugin{"inlineif", 3, 3, false, "conditional a b", inline_if},
    Plugin{"invert", 1, 1, false, "b", invert},
};

}  // namespace

std::span<const Plugin> control_plugins() { return plugins; }

}  // namespace fettle::model
