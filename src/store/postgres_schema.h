#pragma once
/// The tables of a store in PostgreSQL.

#include "store/postgres.h"

namespace fettle {

/// Makes the schema and the tables, or brings them up to date. Errors (`Blame::world`): a newer
/// fettle made them.
Status migrate(Postgres& database);

/// A note about the store itself; none: it was not made.
Result<std::optional<std::string>> setting_of(Postgres& database, std::string_view name);
/// Makes the note unless there is one, and returns the one that is there.
Result<std::string> settle(Postgres& database, std::string_view name, std::string_view value);

}  // namespace fettle
