#include "store/store_opening.h"

#include "base/text.h"
#include "store/database_disk.h"
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
  const Seal seal = TRY(key_of_home(database.name(), home, wanted));
  if (wanted)
    return seal;
  // Somebody else may have been faster.
  const std::string id = TRY(settle(database, "key", seal.id()));
  return key_of_home(database.name(), home, id);
}

Result<std::unique_ptr<Postgres>> open_postgres(const PostgresAddress& address,
                                                const std::string& home) {
  std::unique_ptr<Postgres> database = TRY(Postgres::open(address));
  TRY(migrate(*database));
  TRY(settle_place(*database, home));
  database->greet_with([raw = database.get(), home] { return settle_place(*raw, home); });
  return database;
}

Result<std::unique_ptr<Postgres>> open_shared(const std::string& address, const std::string& home,
                                              std::shared_ptr<const Mask> secrets) {
  std::unique_ptr<Postgres> database =
      TRY(open_postgres(TRY(parse_postgres_address(address)), home));
  database->use(TRY(key_for(*database, home)));
  database->hide(std::move(secrets));
  return database;
}

}  // namespace

Result<std::unique_ptr<Database>> open_database(const std::string& address, const std::string& home,
                                                std::shared_ptr<const Mask> secrets) {
  if (address.empty())
    return open_sqlite_database(home + "/fettle.db", std::move(secrets));
  return std::unique_ptr<Database>(TRY(open_shared(address, home, std::move(secrets))));
}

Result<OpenedStore> open_store(const std::string& address, const std::string& home,
                               std::shared_ptr<const Mask> secrets) {
  OpenedStore opened;
  if (address.empty()) {
    const std::string path = home + "/fettle.db";
    opened.store = TRY(open_sqlite_store(path, std::move(secrets)));
    opened.disk = make_posix_disk();
    opened.index = make_sqlite_blob_index(path);
    opened.blobs = home + "/blobs";
    return opened;
  }
  std::unique_ptr<Postgres> database = TRY(open_shared(address, home, std::move(secrets)));
  opened.id = TRY(setting_of(*database, "id")).value_or("");
  opened.store = make_sql_store(std::move(database));
  const auto contents =
      std::make_shared<LazyDatabase>([address, home]() -> Result<std::unique_ptr<Database>> {
        return std::unique_ptr<Database>(
            TRY(open_postgres(TRY(parse_postgres_address(address)), home)));
      });
  opened.disk = make_database_disk(contents);
  opened.index = make_sql_blob_index(contents);
  opened.blobs = "blobs";
  return opened;
}

}  // namespace fettle
