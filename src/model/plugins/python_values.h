#pragma once
/// Values of a model for its Python, and back: JSON with marks (`python/fettle_models/values.py`).

#include "model/plugins/python.h"

namespace fettle::model {

/// Instances go as their numbers, unknowns and references as marks. With an instance go those of the
/// `wanted` attributes that have values and were not told yet. Error: it is larger than a message may
/// be, for a part that is shared is written at each place. `size` counts over several values.
Result<Value> lend_to_python(Python& python, const Datum& datum, std::span<const Symbol> wanted,
                             size_t& size);
Result<Value> lend_to_python(Python& python, const Datum& datum);

/// The instance and the attribute that Python reads: `[number, name]`. Error: there is no such
/// instance.
Result<std::pair<Instance*, std::string_view>> asked_attribute(std::span<Instance* const> instances,
                                                               const Value& read);

/// Error: it is not a value, or names an instance or a reference that does not exist.
Result<Datum> take_from_python(PluginCall& call, Python& python, const Value& value);

/// What Python is told about an entity: its `name`, `parents` and `attributes`.
Result<Value> entity_for_python(Program& program, std::string_view full_name);

}  // namespace fettle::model
