#pragma once
/// Values, times and environments as the columns of the store's tables have them.

#include "base/hash.h"
#include "base/time.h"
#include "store/database.h"
#include "value/value.h"

namespace fettle {

/// Writes a value as the bytes of a column, and reads it.
std::string bytes_of(const Value& value, const Database& database);
Result<Value> value_of(std::string_view bytes, const Database& database,
                       SealedParts* parts = nullptr);

inline int64_t count_of(Time time) { return time.time_since_epoch().count(); }
inline Time time_of(int64_t count) { return Time(Duration(count)); }

/// The number of an environment in the tables of versions.
inline int64_t world_of(const Name& environment) {
  return static_cast<int64_t>(hash64(environment.view()));
}

inline Turn turn_of(const Name& environment) {
  return {.kind = Turn::environment, .world = world_of(environment)};
}
/// Contents and pieces are common to environments.
inline constexpr Turn turn_of_versions{.kind = Turn::versions};
/// Whoever says that a content is used, and whoever clears those that are not.
inline constexpr Turn turn_of_users{.kind = Turn::contents, .is_shared = true};
inline constexpr Turn turn_of_clearing{.kind = Turn::contents};

}  // namespace fettle
