#pragma once
/// The tables of a store in SQLite.

#include "store/sqlite.h"

namespace fettle {

/// Makes the tables, or brings them up to date. Errors (`Blame::world`): a newer fettle wrote them.
Status migrate(Sqlite& database);

}  // namespace fettle
