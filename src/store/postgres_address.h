#pragma once
/// The address of a store in PostgreSQL: `postgres://USER@HOST:PORT/DATABASE?schema=NAME`, and
/// whatever else libpq knows (`sslmode=…`). `schema` is ours: several stores in one database.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

struct PostgresAddress {
  std::string url;     ///< as libpq takes it; it may hold a password
  std::string schema;  ///< empty: where the server's settings point
  std::string shown;   ///< without the password, for everybody's eyes
};

/// Whether a text is such an address, and no path.
bool is_postgres_address(std::string_view text);
/// Errors (`Blame::user`): it is not such an address. They never repeat what may be a password.
Result<PostgresAddress> parse_postgres_address(std::string_view text);

}  // namespace fettle
