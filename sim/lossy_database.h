#pragma once
/// A database on a server, whose connections may be lost at any statement: between transactions,
/// within one, and at its commit, where nobody is told whether it happened. The data is in one
/// SQLite in memory, and the statements are those of the real store. A connection that is lost
/// loses its locks, as in PostgreSQL, and what comes next connects again.

#include <map>
#include <set>

#include "store/database.h"
#include "store/sqlite.h"

namespace fettle::sim {

class LossyServer {
 public:
  LossyServer();
  Sqlite& data() { return *data_; }
  /// Grows with each commit.
  uint64_t commits() const { return commits_; }

 private:
  friend class LossyDatabase;
  std::unique_ptr<Sqlite> data_;
  std::map<std::string, uint64_t, std::less<>> locks_;  ///< the connections that have them
  uint64_t connections_ = 0, commits_ = 0;
};

/// What becomes of a connection at one statement.
enum class Loss : uint8_t {
  none,
  before,  ///< it is lost, and the statement has not come through
  after,   ///< the statement has come through, and the answer has not
  away,    ///< nothing answers
  dead,    ///< this process is no more, and says nothing for ever
};
/// The moment of a statement. Whatever is said outside of transactions may be said twice.
enum class Saying : uint8_t { read, begin, statement, commit };

class LossyDatabase : public Database {
 public:
  /// `loss` is asked before each statement.
  LossyDatabase(LossyServer& server, std::function<Loss(Saying)> loss);
  ~LossyDatabase() override;

  Dialect dialect() const override { return Dialect::sqlite; }
  const std::string& name() const override { return name_; }
  Status execute(const char* sql) override;
  int64_t changes() override { return server_.data_->changes(); }
  Status take(const Turn&) override { return {}; }
  Result<std::unique_ptr<StoreLock>> take_lock(std::string_view name) override;
  Result<bool> is_locked(std::string_view name) override;
  Result<int64_t> stamp() override { return static_cast<int64_t>(server_.commits_); }
  bool watch(const std::function<void()>&, std::stop_token) override { return false; }

  /// The connection is lost now, with its locks.
  void lose();
  bool is_in_transaction() const { return inner_.has_value(); }
  /// Whether what the last commit was about is written, whatever was told.
  bool has_happened() const { return has_happened_; }

 private:
  class Statement;
  class Lock;
  Result<PreparedStatement*> prepare(const char* sql) override;
  Status begin(std::initializer_list<Turn> turns) override;
  Status begin_reading() override { return begin({}); }
  Status commit() override;
  void roll_back() override;
  /// Before a statement: it may go on.
  Status say(Saying saying);
  static Error lost();

  LossyServer& server_;
  std::function<Loss(Saying)> loss_;
  std::string name_ = "a server";
  uint64_t connection_;               ///< another one after each loss
  std::optional<Transaction> inner_;  ///< that of the data
  bool is_in_transaction_ = false, is_broken_ = false, is_dead_ = false, has_happened_ = false;
  std::map<const char*, std::unique_ptr<PreparedStatement>> prepared_;
};

}  // namespace fettle::sim
