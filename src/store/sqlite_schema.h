#pragma once
/// The tables of the store.

#include "base/time.h"
#include "store/sqlite.h"
#include "value/value.h"

namespace fettle {

/// Makes the tables, or brings them up to date. Errors (`Blame::world`): a newer fettle wrote them.
Status migrate(Sqlite& database);

/// Writes a value as the bytes of a column, and reads it.
std::string bytes_of(const Value& value, const Sqlite& database);
Result<Value> value_of(std::string_view bytes, const Sqlite& database);

inline int64_t count_of(Time time) { return time.time_since_epoch().count(); }
inline Time time_of(int64_t count) { return Time(Duration(count)); }

/// The number of an environment in the tables of versions.
int64_t world_of(const Name& environment);

}  // namespace fettle
