#include "store/store_keys.h"

#include <charconv>
#include <chrono>
#include <ranges>
#include <thread>

#include "base/text.h"
#include "store/columns.h"

namespace fettle {
namespace {

constexpr size_t id_digits = 16;

/// A file has it as a number, among the counters.
std::string id_of_number(int64_t number) {
  std::string digits(id_digits, '0');
  for (auto rest = static_cast<uint64_t>(number); char& digit : std::views::reverse(digits)) {
    digit = "0123456789abcdef"[rest & 15];
    rest >>= 4;
  }
  return digits;
}

int64_t number_of_id(std::string_view id) {
  uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number, 16);
  return static_cast<int64_t>(number);
}

}  // namespace

Result<std::optional<std::string>> key_id_of(Database& database) {
  const bool is_file = database.dialect() == Database::Dialect::sqlite;
  Query query = TRY(database.query(is_file ? "SELECT value FROM counters WHERE name='key'"
                                           : "SELECT value FROM settings WHERE name='key'"));
  if (!TRY(query.step()))
    return std::optional<std::string>();
  return std::optional(is_file ? id_of_number(query.number(0)) : std::string(query.text(0)));
}

namespace {

constexpr int most_tries = 400;
constexpr std::chrono::milliseconds pause_of_tries{50};

/// Whoever writes has locked the rows' tables until he commits, in any order: so nobody waits here
/// with some of the tables in his hands.
Result<Transaction> begin_alone(Database& database) {
  for (int tries = 1;; ++tries) {
    Transaction transaction = TRY(Transaction::begin(database, {}));
    Status locked = database.execute(
        "LOCK TABLE leases, environments, records, events, notes, cache, versions, contents IN "
        "EXCLUSIVE MODE NOWAIT");
    if (locked)
      return Result<Transaction>(std::move(transaction));
    if (tries == most_tries)
      return std::move(locked).error();
    std::this_thread::sleep_for(pause_of_tries);
  }
}

}  // namespace

Result<Transaction> begin_sealing_anew(Database& database) {
  if (database.dialect() == Database::Dialect::sqlite)
    return Transaction::begin(database, {});
  Transaction transaction = TRY(begin_alone(database));
  TRY(database.execute("UPDATE counters SET value=value+1 WHERE name='leases'"));
  TRY(
      database.execute("UPDATE leases SET process=0, token=(SELECT value FROM counters WHERE "
                       "name='leases')"));
  return Result<Transaction>(std::move(transaction));
}

Status put_key(Database& database, const Seal& seal) {
  const std::string id = seal.id();
  if (database.dialect() == Database::Dialect::sqlite) {
    TRY(TRY(database.query("INSERT INTO counters VALUES('key',?) ON CONFLICT(name) DO UPDATE "
                           "SET value=excluded.value"))
            .bind(number_of_id(id))
            .run());
  } else {
    TRY(database.execute("DELETE FROM counters WHERE name='key'"));  // of a file that was copied
    TRY(TRY(database.query("INSERT INTO settings VALUES('key',?) ON CONFLICT(name) DO UPDATE "
                           "SET value=excluded.value"))
            .bind(id)
            .run());
  }
  database.use(seal);
  return {};
}

Path path_of_key(const Path& home, std::string_view id) { return home / "keys" / id; }

Result<Seal> key_of_home(std::string_view store, const Path& home,
                         const std::optional<std::string>& id) {
  const Path first = home / "key";
  if (!id)
    return Seal::from_file(first);
  const Path later = path_of_key(home, *id);
  bool has_any = false;
  for (const Path& path : {later, first}) {
    if (!file_exists(path))
      continue;
    has_any = true;
    Seal seal = TRY(Seal::from_file(path));
    if (seal.id() == *id)
      return seal;
  }
  const std::string hint = cat("copy the file `key` of a home that uses the store, or `", "keys/",
                               *id, "` if it has that, and keep it as secret as there");
  if (!has_any)
    return user_error(cat("the secrets of the store `", store,
                          "` are sealed, and there is no key at `", first.string(), "`: ", hint));
  return user_error(cat("the secrets of the store `", store, "` are sealed with another key than `",
                        first.string(), "`: ", hint));
}

}  // namespace fettle
