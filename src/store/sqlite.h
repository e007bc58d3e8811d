#pragma once
/// The thinnest layer over SQLite's C interface that we can work with: a connection, a statement, a
/// transaction. Every failure is an `Error` with SQLite's own words.

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

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
  /// Bytes that are not copied: they stay where they are until the query has run.
  Query& bind_kept(std::string_view bytes);
  /// True when there is a row.
  Result<bool> step();
  /// Steps once and expects no row.
  Status run();
  /// The same, and ready to be bound and run again.
  Status run_once();
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
  static Result<std::unique_ptr<Sqlite>> open(const std::string& path);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  Status execute(const char* sql);
  /// A statement, kept prepared. `sql` must be a literal.
  Result<Query> query(const char* sql);
  Error error(std::string_view doing) const;

 private:
  friend class Query;
  explicit Sqlite(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
  std::unordered_map<const char*, sqlite3_stmt*> prepared_;
};

/// Rolls back unless it was committed.
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

}  // namespace fettle
