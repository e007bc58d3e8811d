#pragma once
/// The locks of a store: files in their own folder next to the database.

#include "base/lock_file.h"
#include "store/sqlite.h"
#include "value/name.h"

namespace fettle {

Path lock_path(const Sqlite& database, std::string_view name);
/// Makes the folder. A database in memory has none, because no other process can use it.
Status make_lock_folder(const Sqlite& database);
/// Waits for the lock. None: the database is in memory. Error (`Blame::world`): it takes too long.
Result<std::optional<LockFile>> wait_for_lock(const Sqlite& database, std::string_view name);

/// Only one process pushes to an environment at a time.
std::string push_lock_name(const Name& environment);
/// Only one process acts on an environment at a time.
std::string edit_lock_name(const Name& environment);

}  // namespace fettle
