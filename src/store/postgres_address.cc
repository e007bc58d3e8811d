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

/// Whether a part of a password would be taken for something else, and shown: for libpq, the user and
/// the password end at the first `@` before a `/`. `rest`: behind the `://`.
bool is_misread(std::string_view rest) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  const size_t settings = std::min(rest.find('?'), rest.size());
  const std::string_view looked_at = rest.substr(0, std::max(slash, settings));
  const size_t at = looked_at.find('@');
  return at != rest.npos &&
         (at > std::min(slash, settings) || looked_at.find('@', at + 1) != rest.npos);
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
  if (is_misread(text.substr(begin)))
    return user_error(
        "the address of a store has an `@` too many: in a password, write `%40` for `@`, `%2F` for "
        "`/` and `%3F` for `?`");
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
