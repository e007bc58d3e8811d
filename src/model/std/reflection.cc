/// Plugins that look at instances, their types, and unknowns.

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool is_set(PluginCall& call) { return call.give(Datum::of(call[0].tag != Tag::null)); }
bool is_unknown(PluginCall& call) { return call.give(Datum::of(call[0].tag == Tag::unknown)); }

bool attribute(PluginCall& call) {
  Datum value;
  return call.read(call[0], call.text(1), value) && call.give(value);
}

/// An attribute, or another value if there is none, if it is unset, or (optionally) if it is
/// unknown.
bool attribute_or(PluginCall& call) {
  if (call[0].tag == Tag::unknown)
    return call.give(call[3].boolean ? call[2] : call[0]);
  Entity* const entity = call[0].instance->entity;
  const uint32_t slot = entity->slot(call.context.program().symbols.intern(call.text(1)));
  if (slot == no_slot)
    return call.give(call[2]);
  const Member found = call.context.member(call[0].instance, slot);
  if (found.state == Member::State::waits)
    return false;
  const bool is_missing =
      found.state == Member::State::unset || (found.value.tag == Tag::unknown && call[3].boolean);
  return call.give(is_missing ? call[2] : found.value);
}

bool type_of(PluginCall& call) {
  return call.give(call[0].tag == Tag::instance
                       ? call.context.make_text(call[0].instance->entity->full_name)
                       : Datum::null());
}

bool object_id(PluginCall& call) {
  if (call[0].tag != Tag::instance)
    return call.fail(cat("AttributeError: '", python_type(call[0]),
                         "' object has no attribute '_get_instance'"));
  return call.give_text(std::to_string(call[0].instance->number));
}

bool is_instance(PluginCall& call) {
  Space* const here = call.context.program().space("__config__");
  const std::optional<PluginType> type =
      here == nullptr ? std::nullopt
                      : read_plugin_type(call.context.program(), *here, call.text(1));
  if (!type)
    return call.fail(cat("could not find type ", call.text(1), " in namespace __config__"));
  Reason why;
  return call.give(Datum::of(accepts(call.context, *type, call[0], why)));
}

/// Whether an OS belongs to a family, directly or through another family.
bool is_family_of(PluginCall& call) {
  Datum member = call[0];
  for (int steps = 0; steps < 1000; ++steps) {
    Datum name;
    if (!call.read(member, "name", name))
      return false;
    if (name.tag == Tag::text && name.view() == call.text(1))
      return call.give(Datum::of(true));
    const uint32_t slot =
        member.instance->entity->slot(call.context.program().symbols.intern("family"));
    const Member family = slot == no_slot ? Member() : call.context.member(member.instance, slot);
    if (family.state == Member::State::waits)
      return false;
    if (family.value.tag != Tag::instance)
      break;
    member = family.value;
  }
  return call.give(Datum::of(false));
}

constexpr std::array reflection_rows{
    PluginRow{"isset", "(value: object) -> bool", is_set},
    PluginRow{"is_unknown", "(value: any) -> bool", is_unknown, true},
    PluginRow{"attr", "(obj: any, attr: string) -> any", attribute},
    PluginRow{"getattr",
              "(entity: std::Entity, attribute_name: string, default_value: any = null, "
              "no_unknown: bool = true) -> any",
              attribute_or, true},
    PluginRow{"type", "(obj: object) -> any", type_of},
    PluginRow{"objid", "(value: object) -> string", object_id},
    PluginRow{"is_instance", "(obj: any, cls: string) -> bool", is_instance},
    PluginRow{"familyof", "(member: std::OS, family: string) -> bool", is_family_of},
};

}  // namespace

std::span<const PluginRow> reflection_plugins() { return reflection_rows; }

}  // namespace fettle::model
