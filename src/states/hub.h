#pragma once
/// The `hub` of templates: `hub.exec.*` and `hub.idem.arg_bind.resolve`. Nothing else that Idem's
/// hub has is there.

#include "states/render.h"

namespace fettle::states {

/// All arguments must outlive the hub; `outcomes` may be null.
jinja::Value make_hub(const Host& host, const Outcomes* outcomes);

/// A value of a template as plain data. Error: it has no such form, or is nested too deep.
Result<Value> plain_value(const jinja::Value& value);

}  // namespace fettle::states
