#include "store/sqlite_store.h"

#include "base/lock_file.h"
#include "base/text.h"
#include "store/sql_blob_index.h"
#include "store/sql_store.h"
#include "store/sqlite_database.h"
#include "store/sqlite_schema.h"
#include "store/store_keys.h"

namespace fettle {
namespace {

constexpr Duration creation_limit = 20s;

Path key_of(const Path& path) { return path.parent_path() / "key"; }

/// The key is created once the store has its tables. So a store next to a key but without tables
/// was truncated, or its log was, which holds everything of a small store. A store that is created
/// again next to a key would look the same to others, so it is created under this lock. None: no
/// store is created again.
Result<std::optional<LockFile>> turn_to_make_anew(const Path& path) {
  if (file_exists(path) || !file_exists(key_of(path)))
    return std::optional<LockFile>();
  LockFile turn = TRY(LockFile::await(key_of(path), creation_limit, {}));
  return file_exists(path) ? std::optional<LockFile>() : std::optional(std::move(turn));
}

Result<bool> has_tables(Sqlite& database) {
  Query version = TRY(database.query("PRAGMA user_version"));
  TRY(version.step());
  const bool has = version.number(0) != 0;
  static_cast<void>(version.step());  // ends the read
  return has;
}

/// Checks a store that existed, together with its key, before it was opened.
Status check_not_emptied(Sqlite& database, const Path& path) {
  if (TRY(has_tables(database)))
    return {};
  const LockFile turn = TRY(LockFile::await(key_of(path), creation_limit, {}));
  if (TRY(has_tables(database)))
    return {};
  return world_error(cat("the store `", path,
                         "` is empty although it was used: restore it from a backup, or remove it "
                         "to start with an empty store"));
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite_database(const std::string& path,
                                                       std::shared_ptr<const Mask> secrets) {
  const bool is_in_memory = path == ":memory:";
  const bool had_key = !is_in_memory && file_exists(key_of(path));
  const std::optional<LockFile> turn =
      had_key ? TRY(turn_to_make_anew(path)) : std::optional<LockFile>();
  std::unique_ptr<Sqlite> database = TRY(Sqlite::open(path));
  if (had_key && !turn)
    TRY(check_not_emptied(*database, path));
  TRY(migrate(*database).context(cat("opening the store `", path, "`")));
  TRY(database->make_lock_folder());
  if (!database->is_in_memory())
    database->use(TRY(key_of_home(path, Path(path).parent_path(), TRY(key_id_of(*database)))));
  database->hide(std::move(secrets));
  return std::unique_ptr<Database>(std::move(database));
}

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                 std::shared_ptr<const Mask> secrets) {
  return make_sql_store(TRY(open_sqlite_database(path, std::move(secrets))));
}

std::unique_ptr<BlobIndex> make_sqlite_blob_index(const std::string& path) {
  return make_sql_blob_index(
      std::make_shared<LazyDatabase>([path]() -> Result<std::unique_ptr<Database>> {
        std::unique_ptr<Sqlite> database = TRY(Sqlite::open(path));
        TRY(migrate(*database).context(cat("opening the store `", path, "`")));
        TRY(database->make_lock_folder());
        return std::unique_ptr<Database>(std::move(database));
      }));
}

}  // namespace fettle
