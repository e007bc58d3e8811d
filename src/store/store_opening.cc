#include "store/store_opening.h"

#include "base/text.h"
#include "store/database_disk.h"
#include "store/key_command.h"
#include "store/postgres_place.h"
#include "store/postgres_schema.h"
#include "store/sql_store.h"
#include "store/sqlite_database.h"
#include "store/sqlite_store.h"
#include "store/store_keys.h"

namespace fettle {
namespace {

/// The first home that uses a store gives it its key. No key is made beside a store that has one.
Result<Seal> key_for(Postgres& database, const Path& home) {
  const std::optional<std::string> wanted = TRY(key_id_of(database));
  const auto key_with = [&](const std::optional<std::string>& id) {
    return key_command().empty() ? key_of_home(database.name(), home, id)
                                 : key_by_command(database.name(), id);
  };
  const Seal seal = TRY(key_with(wanted));
  if (wanted)
    return seal;
  // Somebody else may have been faster.
  return key_with(TRY(settle(database, "key", seal.id())));
}

struct OpenedPostgres {
  std::unique_ptr<Postgres> database;
  bool is_new = false;
};

Result<OpenedPostgres> open_postgres(const PostgresAddress& address, const std::string& home,
                                     const StoreOpening& opening) {
  OpenedPostgres opened;
  opened.database = TRY(Postgres::open(address, opening.silence));
  opened.is_new = TRY(migrate(*opened.database, opening.may_make));
  TRY(settle_place(*opened.database, home));
  opened.database->greet_with(
      [raw = opened.database.get(), home] { return settle_place(*raw, home); });
  return opened;
}

Result<OpenedPostgres> open_shared(const std::string& address, const std::string& home,
                                   std::shared_ptr<const Mask> secrets,
                                   const StoreOpening& opening) {
  OpenedPostgres opened = TRY(open_postgres(TRY(parse_postgres_address(address)), home, opening));
  opened.database->use(TRY(key_for(*opened.database, home)));
  opened.database->hide(std::move(secrets));
  return opened;
}

}  // namespace

Result<std::unique_ptr<Database>> open_database(const std::string& address, const std::string& home,
                                                std::shared_ptr<const Mask> secrets,
                                                const StoreOpening& opening) {
  if (address.empty())
    return open_sqlite_database(home + "/fettle.db", std::move(secrets));
  return std::unique_ptr<Database>(
      TRY(open_shared(address, home, std::move(secrets), opening)).database);
}

Result<OpenedStore> open_store(const std::string& address, const std::string& home,
                               std::shared_ptr<const Mask> secrets, const StoreOpening& opening) {
  OpenedStore opened;
  if (address.empty()) {
    const std::string path = home + "/fettle.db";
    opened.store = TRY(open_sqlite_store(path, std::move(secrets)));
    opened.disk = make_posix_disk();
    opened.index = make_sqlite_blob_index(path);
    opened.blobs = home + "/blobs";
    return opened;
  }
  auto [database, is_new] = TRY(open_shared(address, home, std::move(secrets), opening));
  opened.id = TRY(setting_of(*database, "id")).value_or("");
  if (is_new)
    opened.made = cat("the schema `", database->schema(), "` of `", database->name(), "`");
  opened.store = make_sql_store(std::move(database));
  const auto contents = std::make_shared<LazyDatabase>(
      [address, home, opening]() -> Result<std::unique_ptr<Database>> {
        return std::unique_ptr<Database>(
            TRY(open_postgres(TRY(parse_postgres_address(address)), home, opening)).database);
      });
  opened.disk = make_database_disk(contents);
  opened.index = make_sql_blob_index(contents);
  opened.blobs = "blobs";
  return opened;
}

}  // namespace fettle
