#pragma once
/// Values of a model for plugins outside of it, and back.

#include "model/evaluate/plugin.h"
#include "starlark/starlark.h"
#include "value/value.h"

namespace fettle::model {

/// An attribute that a struct lacks because it has no value yet, or one that no program can get.
struct Withheld {
  std::string name;
  Instance* instance = nullptr;
  uint32_t slot = 0;
  Tag tag = Tag::unset;  ///< or of what is unknown or a reference in it
};

/// Why a plugin does not get a reference.
std::string reference_text(std::string_view name);

/// An instance becomes a struct (or dict) of its attributes with `__instance__`, its number.
/// `withheld`: takes the attributes that are left out, for a program that may not ask for them;
/// without it they count as read. An error when something unknown or unset is read: then the
/// result of the call is unknown, or the call waits.
Result<starlark::Value> to_starlark(PluginCall& call, starlark::Thread& thread, const Datum& datum,
                                    std::vector<Withheld>* withheld);
Result<Value> to_value(PluginCall& call, const Datum& datum);

Result<Datum> from_starlark(PluginCall& call, starlark::Thread& thread, starlark::Value value);
Result<Datum> from_value(PluginCall& call, const Value& value);

}  // namespace fettle::model
