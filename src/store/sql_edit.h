#pragma once
/// The two ways to write to SQLite. An edit holds a lock file, which shows whether its process
/// lives, and a number in the table of leases, which each of its transactions compares. If the
/// table has another number, the edit has lost the right and writes nothing.

#include "store/edit.h"
#include "store/sqlite.h"

namespace fettle {

/// An edit, or the present holder of the right.
Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_sql_edit(Sqlite& database,
                                                                   const Name& environment,
                                                                   const Holder& me);
Result<std::optional<Holder>> sql_holder(Sqlite& database, const Name& environment);

Status sql_wish(Sqlite& database, const Name& environment, const std::function<Status(Wish&)>& say);

}  // namespace fettle
