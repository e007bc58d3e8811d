#pragma once
/// The tables of a store in PostgreSQL.

#include "store/postgres.h"

namespace fettle {

/// Makes the schema and the tables, or brings them up to date. Whether there were none. Errors: a newer
/// fettle made them (`Blame::world`); there are none, and `may_make` is not given (`Blame::user`).
Result<bool> migrate(Postgres& database, bool may_make = true);

/// Who makes the tables at once with others waits for them; both find what one has made. The same for
/// settings that change.
inline constexpr Turn turn_of_settings{.kind = Turn::versions, .world = -1};

/// A note about the store itself; none: it was not made.
Result<std::optional<std::string>> setting_of(Postgres& database, std::string_view name);
/// Makes the note unless there is one, and returns the one that is there.
Result<std::string> settle(Postgres& database, std::string_view name, std::string_view value);

}  // namespace fettle
