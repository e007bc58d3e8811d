#pragma once
/// Fields of structures, modules and records.

#include "starlark/eval/ops.h"

namespace fettle::starlark {

/// The place of a name in a shape, or -1.
int find_slot(const Shape* shape, Value name);
/// Unset when the record has no such field or it is not set.
Value record_field(const Record* record, Value name);

}  // namespace fettle::starlark
