#pragma once
/// Fields of structures, modules and records.

#include "starlark/eval/ops.h"

namespace fettle::starlark {

/// The place of a name in a shape, or -1.
int find_slot(const Shape* shape, Value name);
/// Unset: the record has no such field, or it is not set.
Value record_field(const Record* record, Value name);
/// The value of a field of any object that has fields of its own; unset: there is none. The word
/// `cache` of the instruction remembers the place of the field in a structure.
Value own_field(Value object, Value name, const Instruction* cache);

}  // namespace fettle::starlark
