#pragma once
/// The tables of a store, for what is done to all of them.

#include <list>
#include <span>
#include <stop_token>
#include <string_view>

#include "store/database.h"

namespace fettle {

struct StoreTable {
  const char* name;
  /// In their order: `t:` a text, `b:` bytes, `n:` a number.
  const char* columns;
};

/// All tables but those of contents and of the database itself.
std::span<const StoreTable> store_tables();

/// Error: somebody has the right to act on an environment. `what` is to be done when that has ended.
Status check_nobody_acts(Database& database, std::string_view what);

using RowLook = std::function<Status(const Query& row)>;
/// Looks at each row of a `SELECT`, within a transaction: those of a server come by a cursor, for
/// they may be more than fit into memory. `texts` gets the statements, which a database remembers by
/// their address as long as it lives.
Status each_row(Database& database, std::list<std::string>& texts, const std::string& select,
                const RowLook& look, const std::stop_token& stop);

}  // namespace fettle
