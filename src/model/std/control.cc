/// Plugins that check, choose and print.

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool print(PluginCall& call) {
  if (is_too_long(call[0]))
    return call.fail(cat("ValueError: ", too_long_text));
  const bool is_container = call[0].tag == Tag::list || call[0].tag == Tag::dict;
  call.context.print(is_container ? interpolated(call.context.program(), call[0])
                                  : text_of(call.context.program(), call[0]));
  return call.give(Datum::null());
}

bool assert_true(PluginCall& call) {
  if (!call[0].boolean)
    return call.fail(cat("AssertionError: Assertion error: ", call.text(1)));
  return call.give(Datum::null());
}

bool equals(PluginCall& call) {
  const Program& program = call.context.program();
  if (is_equal(call[0], call[1]))
    return call.give(Datum::null());
  return call.fail(cat("AssertionError: ", text_of(program, call[0]),
                       " != ", text_of(program, call[1]),
                       call[2].tag == Tag::text ? cat(": ", call.text(2)) : ""));
}

bool inline_if(PluginCall& call) { return call.give(call[0].boolean ? call[1] : call[2]); }
bool invert(PluginCall& call) { return call.give(Datum::of(!call[0].boolean)); }

constexpr std::array control_rows{
    PluginRow{"print", "(message: any) -> any", print},
    PluginRow{"assert", "(expression: bool, message: string = \"\") -> any", assert_true},
    PluginRow{"equals", "(arg1: object, arg2: object, desc: string = null) -> any", equals},
    PluginRow{"inlineif", "(conditional: bool, a: object, b: object) -> any", inline_if},
    PluginRow{"invert", "(value: bool) -> bool", invert},
};

}  // namespace

std::span<const PluginRow> control_plugins() { return control_rows; }

}  // namespace fettle::model
