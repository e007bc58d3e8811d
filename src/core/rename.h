#pragma once
/// Things that go by another key from now on: their records, and what the records of others say of
/// them. What the store keeps under the old key moves with `Change::moved`.

#include <map>

#include "core/record.h"

namespace fettle {

/// The key of today by the key of before; both are of one environment and kind.
using Renames = std::map<Key, Key>;

/// The value whose holes name no old key, of `environment`.
Value renamed(const Value& value, const Renames& renames, const Name& environment);

/// The record in which nothing goes by an old key; the same pointer when nothing did.
RecordPointer renamed(const RecordPointer& record, const Renames& renames);

}  // namespace fettle
