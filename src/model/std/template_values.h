#pragma once
/// Values of the model in templates, and back.

#include "model/evaluate/plugin_context.h"
#include "template/jinja/jinja.h"

namespace fettle::model {

/// What is unknown or a reference may be handed on and not looked at: whoever does makes the result
/// of the call unknown, or the call fail. `name`: what it is called in the template.
jinja::Value to_jinja(PluginCall& call, const Datum& datum, std::string_view name);
Result<Datum> from_jinja(PluginCall& call, const jinja::Value& value);

}  // namespace fettle::model
