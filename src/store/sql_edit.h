#pragma once
/// The two ways to write. An edit holds a lock, which shows whether its process lives, and a number
/// in the table of leases, which each of its transactions compares. If the table has another
/// number, the edit has lost the right and writes nothing; the lock decides nothing.

#include "store/database.h"
#include "store/edit.h"

namespace fettle {

/// An edit, or the present holder of the right.
Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_sql_edit(Database& database,
                                                                   const Name& environment,
                                                                   const Holder& me);
Result<std::optional<Holder>> sql_holder(Database& database, const Name& environment);
/// As those of `Store`.
Status check_take_sql_right(Database& database, const Name& environment, const Holder& holder);
Status take_sql_right(Database& database, const Name& environment, const Holder& holder,
                      const Holder& me, const Event& told);

Status sql_wish(Database& database, const Name& environment,
                const std::function<Status(Wish&)>& say);

}  // namespace fettle
