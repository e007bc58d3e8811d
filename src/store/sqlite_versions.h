#pragma once
/// Versions in SQLite: a piece is stored with the span of versions in which it is the same, so the
/// sets that a commit does not touch cost it nothing. The identity index holds what the newest
/// version says, and only that.

#include "store/sqlite.h"
#include "versions/versions.h"

namespace fettle {

extern const char* const version_tables;  ///< what makes them

std::unique_ptr<Versions> make_sqlite_versions(Sqlite& database);
Status remove_versions(Sqlite& database, const Name& environment);

}  // namespace fettle
