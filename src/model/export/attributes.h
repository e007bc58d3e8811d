#pragma once
/// Turns data of a model into values of attributes.

#include "base/result.h"
#include "model/model.h"
#include "value/value.h"

namespace fettle::model {

/// Error (`Blame::user`): the value is or contains an instance or a reference.
Result<Value> attribute_value(const Datum& datum);

/// The datum at a dotted path from an instance. Null: a step is missing, not set or null.
const Datum* follow_path(const Model& model, const Instance& instance, std::string_view path);

/// The attribute at which a dotted path from an instance ends: its instance, and its slot. Null and
/// `no_slot`: there is none.
std::pair<const Instance*, uint32_t> end_of_path(const Model& model, const Instance& instance,
                                                 std::string_view path);

}  // namespace fettle::model
