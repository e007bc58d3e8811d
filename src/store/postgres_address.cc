#include "store/postgres_address.h"

#include <algorithm>

#include "base/text.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr size_t longest_name = 63;  ///< of anything in PostgreSQL

Status check_schema(std::string_view name) {
  const bool is_plain = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (!name.empty() && is_plain && name.size() <= longest_name && !name.starts_with("pg_") &&
      name != "information_schema")
    return {};
  return user_error(cat("`", printable(name),
                        "` cannot be the schema of a store: expected 1 to 63 letters a-z, digits "
                        "and `_`, as in `?schema=fettle`, and no name that begins with `pg_`"));
}

/// `user@host:port` of `user:password@host:port`.
std::string authority_without_password(std::string_view authority) {
  const size_t at = authority.rfind('@');
  if (at == authority.npos)
    return std::string(authority);
  const std::string_view user = authority.substr(0, authority.find(':'));
  return cat(user.substr(0, at), authority.substr(at));
}

}  // namespace

bool is_postgres_address(std::string_view text) {
  return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

Result<PostgresAddress> parse_postgres_address(std::string_view text) {
  if (!is_postgres_address(text))
    return user_error(
        "a shared store has an address such as `postgres://USER@HOST:5432/DATABASE?schema=fettle`");
  const size_t begin = text.find("://") + 3;
  const size_t query = std::min(text.find('?', begin), text.size());
  const size_t path = std::min(text.find('/', begin), query);
  // Else a part of the password would be taken for a place, and shown.
  if (text.substr(path, query - path).find('@') != text.npos)
    return user_error(
        "the address of a store has `@` behind its first `/`: in a password, write `%2F` for `/` "
        "and `%40` for `@`");
  PostgresAddress address;
  address.url = text.substr(0, query);
  address.shown =
      cat(text.substr(0, begin), authority_without_password(text.substr(begin, path - begin)),
          text.substr(path, query - path));
  std::string kept, shown;
  for (const std::string_view pair : split(text.substr(std::min(query + 1, text.size())), '&')) {
    if (pair.empty())
      continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    if (name == "schema") {
      address.schema = pair.substr(std::min(equals + 1, pair.size()));
      TRY(check_schema(address.schema));
    } else {
      kept += cat(kept.empty() ? "?" : "&", pair);
    }
    shown += cat(shown.empty() ? "?" : "&", is_secret_name(name) || name.ends_with("password")
                                                ? cat(name, "=", masked)
                                                : std::string(pair));
  }
  address.url += kept;
  address.shown += shown;
  return address;
}

}  // namespace fettle
