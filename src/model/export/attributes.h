#pragma once
/// Data of a model as values of attributes.

#include "base/result.h"
#include "model/model.h"
#include "value/value.h"

namespace fettle::model {

/// Error (`Blame::user`): the value is an instance or a reference, or holds one.
Result<Value> attribute_value(const Datum& datum);

/// The datum at a dotted path from an instance; null when a step is missing, not set or null.
const Datum* follow_path(const Model& model, const Instance& instance, std::string_view path);

/// The attribute at which a dotted path from an instance ends: whose it is, and its slot; null and
/// `no_slot` when there is none.
std::pair<const Instance*, uint32_t> end_of_path(const Model& model, const Instance& instance,
                                                 std::string_view path);

}  // namespace fettle::model
