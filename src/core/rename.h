#pragma once
/// Things that have another key from now on: their records, and references to them in the records
/// of others. Data that the store keeps under the old key moves with `Change::moved`.

#include <map>

#include "core/record.h"

namespace fettle {

/// The new key by the old key; both are of one environment and kind.
using Renames = std::map<Key, Key>;

/// The value or attributes whose holes name no old key of `environment`.
Value renamed(const Value& value, const Renames& renames, const Name& environment);
Attributes renamed(const Attributes& attributes, const Renames& renames, const Name& environment);

/// The record without any old key; the same pointer if it had none.
RecordPointer renamed(const RecordPointer& record, const Renames& renames);

}  // namespace fettle
