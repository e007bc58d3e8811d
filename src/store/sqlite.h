#pragma once
/// The thinnest usable layer over SQLite's C interface: a connection, a statement, a transaction.
/// Every failure is an `Error` with SQLite's own words.

#include <sqlite3.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "base/result.h"
#include "base/seal.h"
#include "value/codec.h"

namespace fettle {

class Sqlite;

/// A prepared statement in use: bind, then step through the rows.
class Query {
 public:
  Query(Sqlite& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Query(Query&& other) noexcept
      : database_(other.database_),
        statement_(std::exchange(other.statement_, nullptr)),
        next_(other.next_) {}
  ~Query();
  Query& bind(std::string_view text);
  Query& bind_blob(std::string_view bytes);
  Query& bind(int64_t number);
  /// Binds bytes or a string without copying them: they must stay in place until the query has run.
  Query& bind_kept(std::string_view bytes);
  Query& bind_kept_text(std::string_view text);
  /// True if there is a row.
  Result<bool> step();
  /// Steps once and expects no row.
  Status run();
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  int64_t number(int column) const;

 private:
  Sqlite& database_;
  sqlite3_stmt* statement_;
  int next_ = 1;
};

class Sqlite {
 public:
  /// `:memory:` is a database that nobody else has.
  static Result<std::unique_ptr<Sqlite>> open(const std::string& path);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  Status execute(const char* sql);
  /// Prepares a statement, and keeps it prepared. `sql` must be a literal.
  Result<Query> query(const char* sql);
  Error error(std::string_view doing) const;
  /// The number of rows that the last statement changed.
  int64_t changes() const;
  const std::string& path() const { return path_; }
  /// The seal of secrets; null until it is set.
  const Seal* seal() const { return seal_ ? &*seal_ : nullptr; }
  void use(const Seal& seal) { seal_ = seal; }
  /// Sets which secrets are sealed in written text, in addition to those that are marked.
  void hide(std::shared_ptr<const Mask> secrets) { secrets_ = std::move(secrets); }
  SealPolicy sealing() const { return {seal(), secrets_.get()}; }
  bool is_in_memory() const { return path_ == ":memory:"; }
  /// Lets waiting writers go first; for a process that writes much, between two pieces.
  void give_way();

 private:
  friend class Query;
  friend class Transaction;
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Status begin_waiting();
  sqlite3* handle_;
  std::string path_;
  std::optional<Seal> seal_;
  std::shared_ptr<const Mask> secrets_;
  Descriptor queue_;  ///< locked by those who wait to write
  std::unordered_map<const char*, sqlite3_stmt*> prepared_;
};

/// A transaction that writes. There is one at a time, and others wait for a while. It rolls back
/// unless it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(Sqlite& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Sqlite* database) : database_(database) {}
  Sqlite* database_;
};

/// Does a large job in pieces, each in a transaction of a few milliseconds, so that others do not
/// wait for long. `step` does one piece and says whether there is more. Finished pieces stay if a
/// later one fails.
Status in_pieces(Sqlite& database, const std::function<Result<bool>()>& step);

}  // namespace fettle
