#include "store/sqlite_locks.h"

#include <thread>

#include "base/hash.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr auto longest_wait = std::chrono::minutes(2);

std::string name_of(std::string_view what, const Name& environment) {
  return cat(what, "-", to_string(fingerprint(environment)));
}

}  // namespace

Path lock_path(const Sqlite& database, std::string_view name) {
  return Path(database.path()).parent_path() / "locks" / name;
}

Status make_lock_folder(const Sqlite& database) {
  return database.is_in_memory() ? Status()
                                 : make_directories(lock_path(database, "x").parent_path());
}

Result<std::optional<LockFile>> wait_for_lock(const Sqlite& database, std::string_view name) {
  if (database.is_in_memory())
    return std::optional<LockFile>();
  const auto limit = std::chrono::steady_clock::now() + longest_wait;
  while (true) {
    if (std::optional<LockFile> lock = TRY(LockFile::take(lock_path(database, name))))
      return lock;
    if (std::chrono::steady_clock::now() > limit)
      return world_error(cat("`", lock_path(database, name).string(), "` stays locked"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string push_lock_name(const Name& environment) { return name_of("push", environment); }
std::string edit_lock_name(const Name& environment) { return name_of("edit", environment); }

}  // namespace fettle
