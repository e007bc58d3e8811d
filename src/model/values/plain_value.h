#pragma once
/// Data of a model as values.

#include <functional>

#include "base/result.h"
#include "model/values/datum.h"
#include "value/value.h"

namespace fettle::model {

/// Converts what is not a plain value: an instance, an unknown, or a reference.
using SpecialValue = std::function<Result<Value>(const Datum& special)>;

Result<Value> to_value(const Datum& datum, const SpecialValue& special);

}  // namespace fettle::model
