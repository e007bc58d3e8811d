#pragma once
/// A database in an SQLite file. Its locks are files in a folder of their own next to it.

#include <sqlite3.h>

#include <set>
#include <unordered_map>

#include "base/file.h"
#include "store/database.h"

namespace fettle {

class Sqlite : public Database {
 public:
  /// `:memory:` is a database that nobody else has.
  static Result<std::unique_ptr<Sqlite>> open(const std::string& path);
  ~Sqlite() override;

  Dialect dialect() const override { return Dialect::sqlite; }
  const std::string& name() const override { return path_; }
  Status execute(const char* sql) override;
  int64_t changes() override;
  Status take(const Turn&) override { return {}; }
  void give_way() override;
  Status shrink() override { return execute("PRAGMA shrink_memory"); }
  Result<std::unique_ptr<StoreLock>> take_lock(std::string_view name) override;
  Result<bool> is_locked(std::string_view name) override;
  Result<int64_t> stamp() override;
  bool watch(const std::function<void()>& tell, std::stop_token stop) override;

  Error error(std::string_view doing) const;
  bool is_in_memory() const { return path_ == ":memory:"; }
  /// Makes the folder of the locks. A database in memory has none, because no other process can use
  /// it.
  Status make_lock_folder() const;

 private:
  class Statement;
  class MemoryLock;
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Result<PreparedStatement*> prepare(const char* sql) override;
  Status begin(std::initializer_list<Turn> turns) override;
  Status begin_reading() override { return execute("BEGIN"); }
  Status commit() override { return execute("COMMIT"); }
  void roll_back() override { static_cast<void>(execute("ROLLBACK")); }
  Status check_key();
  Path lock_path(std::string_view name) const;

  sqlite3* handle_;
  std::string path_;
  Descriptor queue_;  ///< locked by those who wait to write
  std::unordered_map<const char*, std::unique_ptr<PreparedStatement>> prepared_;
  std::set<std::string, std::less<>> taken_;  ///< locks of a database in memory
};

}  // namespace fettle
