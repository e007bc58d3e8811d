#pragma once
/// Resources as JSON in the original's form.

#include <string>
#include <vector>

#include "model/export/exporter.h"
#include "value/value.h"

namespace fettle::model {

/// Unknowns as `<<undefined>>`.
Value without_unknowns(const Value& value);

/// The fields as the inside of an object, by name; sorts them.
void append_fields(std::string& json, std::vector<Entry>& fields);

}  // namespace fettle::model
