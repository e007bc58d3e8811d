#pragma once
/// A database as the store uses it: prepared queries, transactions and locks. The statements are
/// written once, in the SQL that SQLite and PostgreSQL share; `?` and `?2` are places for values.
/// Every failure is an `Error` with the database's own words.

#include <functional>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/seal.h"
#include "value/codec.h"

namespace fettle {

/// A statement that stays prepared.
class PreparedStatement {
 public:
  enum class Type : uint8_t { text, bytes };
  virtual ~PreparedStatement() = default;
  /// `is_kept`: the value stays in place until the statement has run, so it need not be copied.
  virtual void bind(int place, std::string_view value, Type type, bool is_kept) = 0;
  virtual void bind(int place, int64_t number) = 0;
  virtual Result<bool> step() = 0;
  /// Steps once and expects no row. A failure may be told by the next statement of the transaction,
  /// or by its end: a server gets what is written without being asked after each row.
  virtual Status run() {
    TRY(step());
    return {};
  }
  virtual std::string_view text(int column) const = 0;
  virtual std::string_view blob(int column) const = 0;
  virtual int64_t number(int column) const = 0;
  virtual void reset() = 0;
};

/// A prepared statement in use: bind, then step through the rows.
class Query {
 public:
  explicit Query(PreparedStatement& statement) : statement_(&statement) {}
  Query(Query&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), next_(other.next_) {}
  ~Query() {
    if (statement_ != nullptr)
      statement_->reset();
  }
  Query& bind(std::string_view text) { return bind(text, PreparedStatement::Type::text, false); }
  Query& bind_blob(std::string_view bytes) {
    return bind(bytes, PreparedStatement::Type::bytes, false);
  }
  Query& bind(int64_t number) {
    statement_->bind(next_++, number);
    return *this;
  }
  /// Binds bytes or a string without copying them: they must stay in place until the query has run.
  Query& bind_kept(std::string_view bytes) {
    return bind(bytes, PreparedStatement::Type::bytes, true);
  }
  Query& bind_kept_text(std::string_view text) {
    return bind(text, PreparedStatement::Type::text, true);
  }
  /// True if there is a row.
  Result<bool> step() { return statement_->step(); }
  /// As `PreparedStatement::run`.
  Status run() { return statement_->run(); }
  std::string_view text(int column) const { return statement_->text(column); }
  std::string_view blob(int column) const { return statement_->blob(column); }
  int64_t number(int column) const { return statement_->number(column); }

 private:
  Query& bind(std::string_view value, PreparedStatement::Type type, bool is_kept) {
    statement_->bind(next_++, value, type, is_kept);
    return *this;
  }
  PreparedStatement* statement_;
  int next_ = 1;
};

/// What nobody else may write at the same time. SQLite has one writer at a time in any case. A
/// transaction takes its turns in the order of this list, so that no two wait for each other.
struct Turn {
  enum Kind : uint8_t { environment, versions, contents, file };
  Kind kind = environment;
  int64_t world = 0;       ///< of an environment; of a file, the hash of its path
  bool is_shared = false;  ///< others may take it at the same time, unless they want it alone
  bool has_right = false;  ///< whoever takes it compares the number of a right to act
};

/// A connection of somebody to a server.
struct DatabaseSession {
  int64_t id = 0;
  std::string user;
  bool may_end = false;  ///< whether the server lets us end it
};

/// A lock that ends with its process, however that ends.
class StoreLock {
 public:
  virtual ~StoreLock() = default;
  /// False: it was lost with the connection to a server. Somebody else may have it by now.
  virtual bool is_held() = 0;
  /// Takes it again if it was lost and is free.
  virtual void regain() = 0;
  /// Leaves nothing behind: what it was about is gone.
  virtual void leave_nothing() = 0;
};

class Database {
 public:
  enum class Dialect : uint8_t { sqlite, postgres };

  Database() = default;
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  virtual Dialect dialect() const = 0;
  /// For messages: the path of a file, the address of a server without its password.
  virtual const std::string& name() const = 0;
  virtual Status execute(const char* sql) = 0;
  /// Prepares a statement, and keeps it prepared. `sql` must be a literal.
  Result<Query> query(const char* sql) { return Query(*TRY(prepare(sql))); }
  /// The number of rows that the last statement changed.
  virtual int64_t changes() = 0;
  /// Takes another turn, within a transaction.
  virtual Status take(const Turn& turn) = 0;
  /// Lets waiting writers go first; for a process that writes much, between two pieces.
  virtual void give_way() {}
  /// Much was read that will not be read again soon.
  virtual Status shrink() { return {}; }

  /// Null: somebody else has the lock.
  virtual Result<std::unique_ptr<StoreLock>> take_lock(std::string_view name) = 0;
  /// Whether somebody has the lock. The question does not get in the way of those who want it.
  virtual Result<bool> is_locked(std::string_view name) = 0;
  /// The others who have the lock, where a session of a server has it and not a process.
  virtual Result<std::vector<DatabaseSession>> sessions_with(std::string_view) {
    return std::vector<DatabaseSession>();
  }
  /// Ends a session with everything that it has, and waits for that.
  virtual Status end_session(const DatabaseSession&) { return {}; }

  /// As those of `Store`.
  virtual Result<int64_t> stamp() = 0;
  virtual bool watch(const std::function<void()>& tell, std::stop_token stop) = 0;

  /// The seal of secrets; null until it is set.
  const Seal* seal() const { return seal_ ? &*seal_ : nullptr; }
  void use(const Seal& seal) {
    seal_ = seal;
    key_id_ = seal.id();
  }
  /// Sets which secrets are sealed in written text, in addition to those that are marked.
  void hide(std::shared_ptr<const Mask> secrets) { secrets_ = std::move(secrets); }
  SealPolicy sealing() const { return {seal(), secrets_.get()}; }

 protected:
  /// The id of the key with which this process seals; empty: it seals nothing. A transaction that
  /// writes fails if the store has another one by now.
  const std::string& key_id() const { return key_id_; }
  Error changed_key_error() const;

 private:
  friend class Transaction;
  virtual Result<PreparedStatement*> prepare(const char* sql) = 0;
  virtual Status begin(std::initializer_list<Turn> turns) = 0;
  virtual Status begin_reading() = 0;
  virtual Status commit() = 0;
  virtual void roll_back() = 0;

  std::optional<Seal> seal_;
  std::string key_id_;
  std::shared_ptr<const Mask> secrets_;
};

/// A transaction that writes. Others who want the same turn wait for a while. It rolls back unless
/// it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database, std::initializer_list<Turn> turns);
  /// One that only reads, and sees nothing of what others write meanwhile.
  static Result<Transaction> begin_reading(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

/// Does a large job in pieces, each in a transaction of a few milliseconds, so that others do not
/// wait for long. `step` does one piece and says whether there is more. Finished pieces stay if a
/// later one fails. `check` is called first in each transaction.
Status in_pieces(Database& database, const std::optional<Turn>& turn,
                 const std::function<Result<bool>()>& step,
                 const std::function<Status()>& check = {});

/// Waits for the lock. Error (`Blame::world`): it takes too long.
Result<std::unique_ptr<StoreLock>> wait_for_lock(Database& database, std::string_view name);

/// Only one process pushes to an environment at a time.
std::string push_lock_name(std::string_view environment);
/// Only one process acts on an environment at a time.
std::string edit_lock_name(std::string_view environment);

}  // namespace fettle
