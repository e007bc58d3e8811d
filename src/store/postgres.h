#pragma once
/// A database in PostgreSQL, on one connection. What SQLite says with files is said by the server:
/// locks are advisory locks of the connection, which end with it, and news are notifications.
///
/// A connection that is lost is an error for the transaction that was under way. What comes next
/// connects again: a read, or a transaction that begins. Locks are lost with it; who relies on one
/// asks `StoreLock::is_held` in the transaction that writes, or compares a number in a row.

#include <set>
#include <unordered_map>

#include "base/time.h"
#include "store/database.h"
#include "store/postgres_address.h"
#include "store/postgres_library.h"

namespace fettle {

class Postgres : public Database {
 public:
  /// Errors: the server does not answer or does not let us in; it is older than 15 or keeps nothing
  /// (a standby, `synchronous_commit=off`); a pooler gives each transaction another connection.
  /// `silence`: how long it may say nothing while an answer is expected; 0: without a limit.
  static Result<std::unique_ptr<Postgres>> open(PostgresAddress address,
                                                Duration silence = WaitLimits().silence);
  ~Postgres() override;

  Dialect dialect() const override { return Dialect::postgres; }
  const std::string& name() const override { return address_.shown; }
  Status execute(const char* sql) override;
  int64_t changes() override;
  Status take(const Turn& turn) override;
  Result<std::unique_ptr<StoreLock>> take_lock(std::string_view name) override;
  Result<bool> is_locked(std::string_view name) override;
  Result<std::vector<DatabaseSession>> sessions_with(std::string_view name) override;
  Status end_session(const DatabaseSession& session) override;
  Result<int64_t> stamp() override;
  bool watch(const std::function<void()>& tell, std::stop_token stop) override;

  /// The schema that the store has to itself.
  const std::string& schema() const { return address_.schema; }
  /// Called from now on whenever another connection has begun, before anything is done on it. An
  /// error ends that connection.
  void greet_with(std::function<Status()> greet) { greet_ = std::move(greet); }

 private:
  class Statement;
  class Lock;
  using AnswerReader = std::function<void(PGresult*)>;

  Postgres(const PostgresLibrary& library, PostgresAddress address, Duration silence)
      : library_(library), address_(std::move(address)), silence_(silence) {}
  Result<PreparedStatement*> prepare(const char* sql) override;
  Status begin(std::initializer_list<Turn> turns) override;
  Status begin_reading() override {
    return begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  Status begin_with(const std::string& sql);
  std::string key_check() const;
  Status commit() override;
  void roll_back() override;

  // postgres_connection.cc
  Status connect();
  /// Connects again if the connection was lost, outside a transaction.
  Status stay_connected();
  Result<PGconn*> new_connection();
  Status check_server();
  Status check_no_pooler();
  Status check_schema();
  bool is_lost() const { return is_broken_ || library_.status(connection_) == CONNECTION_BAD; }
  /// Without words, those of the connection.
  Error lost_error(const std::string& words = {}) const;
  Error error_of(const PGresult* result);
  /// In one line, and without the password.
  std::string words_of(std::string message) const;

  /// Waits until something can be read or written. False: the server is silent for too long, and the
  /// connection counts as lost.
  bool await_server(short events);
  /// The next answer to what was sent; null: there is no more, or the connection was lost.
  PGresult* next_answer();
  /// The answer to one statement, which was sent with this code.
  PGresult* answer_to(int code);
  /// Takes the answers to what was sent and not yet asked about; the first error among them.
  Status take_answers();
  /// The statement is in the pipeline.
  Status was_sent(int code);

  /// Runs statements without values, and reads the answer to each, up to one that is an error.
  Status run(const std::string& sql, const AnswerReader& read = {});
  /// The same for what may be said twice: if the connection turns out to be lost, on the next one.
  Status run_first(const std::string& sql, const AnswerReader& read = {});
  std::string text_of(const PGresult* result, int column) const;
  /// The number of something among all that is locked in the database.
  int64_t key_of(std::string_view name) const;
  std::string turn_sql(const Turn& turn) const;
  std::string channel() const;
  Result<bool> take_key(int64_t key);
  /// Takes what was notified; whether others wrote.
  bool hear_others();
  /// Waits for news. False: the connection was lost.
  bool listen(const std::function<void()>& tell, int bell, const std::stop_token& stop);

  const PostgresLibrary& library_;
  PostgresAddress address_;
  Duration silence_;
  std::string password_;  ///< never to be shown
  PGconn* connection_ = nullptr;
  int64_t connections_ = 0;  ///< so far; prepared statements and locks belong to one
  int backend_ = 0;          ///< the server's process
  bool is_broken_ = false;   ///< nothing more could be sent, which libpq does not count as lost
  bool is_silent_ = false;   ///< and why: no answer came
  bool is_in_transaction_ = false;
  bool has_right_ = false;  ///< the transaction compares the number of a right
  bool listens_ = false;
  size_t sent_ = 0;                  ///< statements of the transaction without an answer so far
  std::optional<Error> late_error_;  ///< of one that was sent; the transaction writes nothing more
  int64_t changes_ = 0;
  int64_t stamp_ = 0;
  std::unordered_map<const char*, std::unique_ptr<PreparedStatement>> prepared_;
  std::set<int64_t> taken_;  ///< keys of the locks that this connection has
  std::function<Status()> greet_;
};

}  // namespace fettle
