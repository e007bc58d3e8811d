#pragma once
/// The tables, and how an older file becomes one of today.

#include "base/time.h"
#include "store/sqlite.h"
#include "value/value.h"

namespace fettle {

/// Makes the tables, or brings them up to date. Errors (`Blame::world`): a newer fettle wrote them.
Status migrate(Sqlite& database);

/// A value as the bytes of a column and back.
std::string bytes_of(const Value& value, const Sqlite& database);
Result<Value> value_of(std::string_view bytes, const Sqlite& database);

inline int64_t count_of(Time time) { return time.time_since_epoch().count(); }
inline Time time_of(int64_t count) { return Time(Duration(count)); }

/// What stands for an environment in the tables of versions.
int64_t world_of(const Name& environment);

}  // namespace fettle
