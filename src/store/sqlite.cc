#include "store/sqlite.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/invariant.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "base/watcher.h"
#include "store/store_keys.h"

namespace fettle {

class Sqlite::Statement : public PreparedStatement {
 public:
  Statement(Sqlite& database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  ~Statement() override { sqlite3_finalize(statement_); }

  void bind(int place, std::string_view value, Type type, bool is_kept) override {
    // Without an address, SQLite takes the value for null.
    const char* const bytes = value.data() == nullptr ? "" : value.data();
    const auto life = is_kept ? SQLITE_STATIC : SQLITE_TRANSIENT;
    const int code =
        type == Type::text
            ? sqlite3_bind_text64(statement_, place, bytes, value.size(), life, SQLITE_UTF8)
            : sqlite3_bind_blob64(statement_, place, bytes, value.size(), life);
    INVARIANT(code == SQLITE_OK);
  }
  void bind(int place, int64_t number) override {
    INVARIANT(sqlite3_bind_int64(statement_, place, number) == SQLITE_OK);
  }
  Result<bool> step() override {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW)
      return true;
    if (code == SQLITE_DONE)
      return false;
    return database_.error("using the store");
  }
  std::string_view text(int column) const override {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return {bytes == nullptr ? "" : bytes, size_of(column)};
  }
  std::string_view blob(int column) const override {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {bytes == nullptr ? "" : bytes, size_of(column)};
  }
  int64_t number(int column) const override { return sqlite3_column_int64(statement_, column); }
  void reset() override {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  size_t size_of(int column) const {
    return static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  }

  Sqlite& database_;
  sqlite3_stmt* statement_;
};

namespace {

constexpr std::chrono::milliseconds busy_limit{20'000};

/// Two processes that open a new file at once both want to change its journal; SQLite refuses one
/// of them at once, because each holds a lock that the other waits for. So we have to wait
/// ourselves.
int keep_write_ahead_log(sqlite3* handle) {
  const auto limit = std::chrono::steady_clock::now() + busy_limit;
  for (;;) {
    const int code = sqlite3_exec(handle, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if ((code & 0xFF) != SQLITE_BUSY || std::chrono::steady_clock::now() > limit)
      return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<std::unique_ptr<Sqlite>> Sqlite::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Sqlite> database(new Sqlite(handle, path));
  // SQLite says only that there is no file.
  if (const Path folder = Path(path).parent_path();
      code == SQLITE_CANTOPEN && !file_exists(path) && access(folder.c_str(), W_OK) != 0)
    return file_error("cannot create the store in", folder);
  if (code != SQLITE_OK)
    return database->error(cat("opening the store `", path, "`"));
  sqlite3_busy_timeout(handle, static_cast<int>(busy_limit.count()));
  // The log stays for the next process; copying it into the database would make each command wait
  // for the disk. It is copied when it has grown.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (keep_write_ahead_log(handle) != SQLITE_OK)
    return database->error(cat("opening the store `", path, "`"));
  TRY(database
          ->execute("PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
                    "PRAGMA cache_size=-65536")
          .context(cat("opening the store `", path, "`")));
  return database;
}

Sqlite::~Sqlite() {
  prepared_.clear();
  sqlite3_close(handle_);
}

Status Sqlite::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return error("using the store");
  return {};
}

Result<PreparedStatement*> Sqlite::prepare(const char* sql) {
  std::unique_ptr<PreparedStatement>& prepared = prepared_[sql];
  if (prepared == nullptr) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK)
      return error("using the store");
    prepared = std::make_unique<Statement>(*this, statement);
  }
  return prepared.get();
}

namespace {

/// SQLite recognizes a full disk only when it writes to the database itself.
bool is_disk_full(int code, int system, const std::string& path) {
  if (code == SQLITE_FULL || system == ENOSPC || system == EDQUOT)
    return true;
  struct statvfs about{};
  const bool may_be = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  return may_be && statvfs(path.c_str(), &about) == 0 && about.f_bavail == 0;
}

}  // namespace

Error Sqlite::error(std::string_view doing) const {
  if (handle_ == nullptr)
    return world_error("out of memory").context(std::string(doing));
  const int code = sqlite3_errcode(handle_) & 0xFF, system = sqlite3_system_errno(handle_);
  std::string message = sqlite3_errmsg(handle_);
  if (is_disk_full(code, system, path_))
    message = cat("the disk is full at `", path_,
                  "`; what was recorded is safe; free some space and run the same command again");
  else if (code == SQLITE_READONLY)
    message = cat("cannot write `", path_, "`: it is read-only");
  else if (code == SQLITE_NOTADB)
    message = cat("`", path_,
                  "`: this file is not a database of fettle; restore it from a copy, or move it "
                  "away to start with an empty one");
  else if (code == SQLITE_CORRUPT)
    message = cat("the store `", path_, "` is damaged (", message,
                  "): restore it from a backup, or move it away to start with an empty store");
  else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system != 0)
    message += ": " + lower_case(std::strerror(system));
  return world_error(std::move(message)).context(std::string(doing));
}

namespace {

constexpr std::chrono::microseconds wait_for_turn{200};
constexpr std::chrono::milliseconds longest_way_given{100};

/// The byte in the queue's file that all waiting processes lock together.
struct flock lock_of_queue(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return lock;
}

bool is_busy(int code) { return (code & 0xFF) == SQLITE_BUSY; }

}  // namespace

/// Waits by itself and not in SQLite, whose pauses grow to a tenth of a second. So a process that
/// writes much sees that others wait, and gives way.
Status Sqlite::begin(std::initializer_list<Turn>) {
  const auto limit = std::chrono::steady_clock::now() + busy_limit;
  sqlite3_busy_timeout(handle_, 0);
  int code = sqlite3_exec(handle_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  if (is_busy(code) && !is_in_memory()) {
    if (!queue_.is_open())
      queue_ = Descriptor(::open((path_ + "-queue").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    struct flock lock = lock_of_queue(F_RDLCK);
    fcntl(queue_.get(), F_OFD_SETLK, &lock);  // without the lock, we only wait longer
    while (is_busy(code) && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(wait_for_turn);
      code = sqlite3_exec(handle_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    }
    lock = lock_of_queue(F_UNLCK);
    fcntl(queue_.get(), F_OFD_SETLK, &lock);
  }
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_limit.count()));
  if (code != SQLITE_OK)
    return error("using the store");
  Status checked = check_key();
  if (!checked)
    roll_back();
  return checked;
}

Status Sqlite::check_key() {
  if (key_id().empty())
    return {};
  const std::optional<std::string> id = TRY(key_id_of(*this));
  return !id || *id == key_id() ? Status() : Status(changed_key_error());
}

void Sqlite::give_way() {
  if (is_in_memory())
    return;
  if (!queue_.is_open())
    queue_ = Descriptor(::open((path_ + "-queue").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto limit = std::chrono::steady_clock::now() + longest_way_given;
  while (std::chrono::steady_clock::now() < limit) {
    struct flock lock = lock_of_queue(F_WRLCK);
    if (fcntl(queue_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
      return;
    std::this_thread::sleep_for(wait_for_turn);
  }
}

int64_t Sqlite::changes() { return sqlite3_changes64(handle_); }

namespace {

class FileLock : public StoreLock {
 public:
  explicit FileLock(LockFile file) : file_(std::move(file)) {}
  bool is_held() override { return true; }
  void regain() override {}
  void leave_nothing() override { std::move(*std::exchange(file_, std::nullopt)).remove(); }

 private:
  std::optional<LockFile> file_;
};

}  // namespace

class Sqlite::MemoryLock : public StoreLock {
 public:
  MemoryLock(Sqlite& database, std::string name) : database_(database), name_(std::move(name)) {}
  ~MemoryLock() override { database_.taken_.erase(name_); }
  bool is_held() override { return true; }
  void regain() override {}
  void leave_nothing() override {}

 private:
  Sqlite& database_;
  std::string name_;
};

Path Sqlite::lock_path(std::string_view name) const {
  return Path(path_).parent_path() / "locks" / name;
}

Status Sqlite::make_lock_folder() const {
  return is_in_memory() ? Status() : make_directories(lock_path("x").parent_path());
}

Result<std::unique_ptr<StoreLock>> Sqlite::take_lock(std::string_view name) {
  if (is_in_memory())
    return std::unique_ptr<StoreLock>(taken_.emplace(name).second
                                          ? std::make_unique<MemoryLock>(*this, std::string(name))
                                          : nullptr);
  std::optional<LockFile> file = TRY(LockFile::take(lock_path(name)));
  return std::unique_ptr<StoreLock>(file ? std::make_unique<FileLock>(*std::move(file)) : nullptr);
}

Result<bool> Sqlite::is_locked(std::string_view name) {
  return is_in_memory() ? Result<bool>(taken_.contains(name)) : LockFile::is_taken(lock_path(name));
}

Result<int64_t> Sqlite::stamp() {
  Query version = TRY(query("PRAGMA data_version"));
  return TRY(version.step()) ? version.number(0) : 0;
}

bool Sqlite::watch(const std::function<void()>& tell, std::stop_token stop) {
  constexpr Duration first_pause = 1ms, longest_pause = 1s;
  if (is_in_memory())
    return false;
  Poller poller(stop);
  std::optional<WriteNotices> notices = WriteNotices::open(cat(path_, "-wal"));
  const Result<std::unique_ptr<Sqlite>> own = open(path_);
  Result<int64_t> seen = own ? (*own)->stamp() : Result<int64_t>(own.error());
  if (!notices || !seen)
    return false;
  tell();  // whatever was written before was not heard
  // A commit is written to the log a moment before others can read it, and the writer may lose the
  // processor in between. So a notice says only that it is worth looking, for a while.
  for (Duration pause = longest_pause; !stop.stop_requested();) {
    const Result<bool> is_written = notices->wait(poller, pause);
    if (!is_written)
      return stop.stop_requested();
    pause = *is_written ? first_pause : std::min<Duration>(pause * 2, longest_pause);
    const Result<int64_t> stamp = (*own)->stamp();
    if (stamp && *stamp == *seen)
      continue;
    if (stamp)
      seen = *stamp;
    tell();
  }
  return true;
}

}  // namespace fettle
