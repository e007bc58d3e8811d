#include "store/sqlite.h"

#include <chrono>
#include <thread>

#include "base/invariant.h"
#include "base/text.h"

namespace fettle {

Query::~Query() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

Query& Query::bind(std::string_view text) {
  INVARIANT(sqlite3_bind_text64(statement_, next_++, text.data() == nullptr ? "" : text.data(),
                                text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK);
  return *this;
}
Query& Query::bind_blob(std::string_view bytes) {
  INVARIANT(sqlite3_bind_blob64(statement_, next_++, bytes.data() == nullptr ? "" : bytes.data(),
                                bytes.size(), SQLITE_TRANSIENT) == SQLITE_OK);
  return *this;
}
Query& Query::bind(int64_t number) {
  INVARIANT(sqlite3_bind_int64(statement_, next_++, number) == SQLITE_OK);
  return *this;
}

Query& Query::bind_kept(std::string_view bytes) {
  INVARIANT(sqlite3_bind_blob64(statement_, next_++, bytes.data(), bytes.size(), SQLITE_STATIC) ==
            SQLITE_OK);
  return *this;
}

Result<bool> Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  return database_.error("using the store");
}

Status Query::run() {
  TRY(step());
  return {};
}

Status Query::run_once() {
  TRY(run());
  sqlite3_reset(statement_);
  next_ = 1;
  return {};
}

std::string_view Query::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
std::string_view Query::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
int64_t Query::number(int column) const { return sqlite3_column_int64(statement_, column); }

namespace {

constexpr std::chrono::milliseconds busy_limit{20'000};

/// Two processes that open a new file at once both want to change its journal; SQLite refuses one
/// of them at once, since each holds what the other waits for, so the waiting is ours.
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
  std::unique_ptr<Sqlite> database(new Sqlite(handle));
  if (code != SQLITE_OK)
    return database->error(cat("opening the store `", path, "`"));
  sqlite3_busy_timeout(handle, static_cast<int>(busy_limit.count()));
  if (keep_write_ahead_log(handle) != SQLITE_OK)
    return database->error(cat("opening the store `", path, "`"));
  TRY(database
          ->execute("PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
                    "PRAGMA cache_size=-65536")
          .context(cat("opening the store `", path, "`")));
  return database;
}

Sqlite::~Sqlite() {
  for (const auto& [sql, statement] : prepared_)
    sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Status Sqlite::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return error("using the store");
  return {};
}

Result<Query> Sqlite::query(const char* sql) {
  sqlite3_stmt*& statement = prepared_[sql];
  if (statement == nullptr && sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                 &statement, nullptr) != SQLITE_OK)
    return error("using the store");
  return Query(*this, statement);
}

Error Sqlite::error(std::string_view doing) const {
  std::string message = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
  if (handle_ != nullptr && (sqlite3_errcode(handle_) & 0xFF) == SQLITE_FULL)
    message =
        "the disk is full; nothing that was recorded is lost, free some space and run the same "
        "command again";
  return world_error(std::move(message)).context(std::string(doing));
}

Result<Transaction> Transaction::begin(Sqlite& database) {
  TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ != nullptr)
    static_cast<void>(database_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace fettle
