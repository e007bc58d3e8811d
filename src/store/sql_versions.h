#pragma once
/// Versions in a database. A piece is stored with the span of versions in which it is the same, so sets
/// that a push does not touch cost nothing. The identity index has spans, too. Data under a number
/// that no version has yet is invisible, so a large push is written ahead in small transactions.

#include "store/database.h"
#include "versions/versions.h"

namespace fettle {

std::unique_ptr<Versions> make_sql_versions(Database& database);

/// Adds a version, within the transaction of a wish. Call `keep_version` once that is committed.
Status add_version(StagedVersion& staged, Time now);
void keep_version(StagedVersion& staged);
Status release_version_row(Database& database, const Name& environment, uint64_t number, Time now);

/// Removes versions in pieces, so it must not be called within a transaction. `check` says in each
/// of them whether it may go on.
Status remove_versions(Database& database, const Name& environment,
                       const std::function<Status()>& check);

}  // namespace fettle
