#pragma once
/// The `hub` that templates see: `hub.exec.*` and `hub.idem.arg_bind.resolve`, and nothing else of
/// what it is in Idem.

#include "states/render.h"

namespace fettle::states {

/// All that is given outlives the hub; `outcomes` may be null.
jinja::Value make_hub(const Host& host, const Outcomes* outcomes);

/// A value of a template as plain data. Error: it is none, or nested too deep.
Result<Value> plain_value(const jinja::Value& value);

}  // namespace fettle::states
