#pragma once
/// Turns values of a model into values for templates, and back.

#include "model/evaluate/plugin_context.h"
#include "template/jinja/jinja.h"

namespace fettle::model {

/// An unknown or a reference may be passed on and not looked at: a look makes the result of the
/// call unknown, or makes the call fail. `name`: its name in the template.
jinja::Value to_jinja(PluginCall& call, const Datum& datum, std::string_view name);
Result<Datum> from_jinja(PluginCall& call, const jinja::Value& value);

}  // namespace fettle::model
