#pragma once
/// Values of a model for plugins outside of it, and back.

#include "model/evaluate/plugin.h"
#include "starlark/starlark.h"
#include "value/value.h"

namespace fettle::model {

/// An instance becomes a struct (or dict) of its attributes with `__instance__`, its number.
/// An error also when an attribute is not there yet; then the call waits.
Result<starlark::Value> to_starlark(PluginCall& call, starlark::Thread& thread, const Datum& datum);
Result<Value> to_value(PluginCall& call, const Datum& datum);

Result<Datum> from_starlark(PluginCall& call, starlark::Thread& thread, starlark::Value value);
Datum from_value(PluginCall& call, const Value& value);

}  // namespace fettle::model
