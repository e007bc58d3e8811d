#pragma once
/// Versions in SQLite: a piece is stored with the span of versions in which it is the same, so the
/// sets that a push does not touch cost it nothing. The identity index has spans, too. So what is
/// written under a number that no version has yet is seen by nobody, and a large push is written
/// ahead in small transactions.

#include "store/sqlite.h"
#include "versions/versions.h"

namespace fettle {

std::unique_ptr<Versions> make_sqlite_versions(Sqlite& database);

/// Within the transaction of a wish; `keep_version` once that is committed.
Status add_version(Staged& staged, Time now);
void keep_version(Staged& staged);
Status release_version_row(Sqlite& database, const Name& environment, uint64_t number, Time now);

/// In pieces, so it must not stand within a transaction.
Status remove_versions(Sqlite& database, const Name& environment);

}  // namespace fettle
