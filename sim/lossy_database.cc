#include "sim/lossy_database.h"

#include "base/invariant.h"
#include "store/sqlite_schema.h"

namespace fettle::sim {
namespace {

/// As those of a server, where contents are in the database.
constexpr const char* tables_of_files =
    "CREATE TABLE files(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, size INTEGER NOT NULL);"
    "CREATE TABLE file_pieces(file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE, number "
    "INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(file, number)); PRAGMA foreign_keys=ON";

}  // namespace

LossyServer::LossyServer() {
  Result<std::unique_ptr<Sqlite>> data = Sqlite::open(":memory:");
  INVARIANT(data && migrate(**data) && (*data)->execute(tables_of_files));
  data_ = *std::move(data);
}

/// Its values are bound in their order, as all of the store are.
class LossyDatabase::Statement : public PreparedStatement {
 public:
  Statement(LossyDatabase& database, const char* sql) : database_(database), sql_(sql) {}

  void bind(int, std::string_view value, Type type, bool is_kept) override {
    Query& query = here();
    if (is_kept)
      type == Type::text ? query.bind_kept_text(value) : query.bind_kept(value);
    else
      type == Type::text ? query.bind(value) : query.bind_blob(value);
  }
  void bind(int, int64_t number) override { here().bind(number); }
  Result<bool> step() override {
    if (!std::exchange(is_said_, true))
      TRY(database_.say(database_.is_in_transaction_ ? Saying::statement : Saying::read));
    return here().step();
  }
  std::string_view text(int column) const override { return inner_->text(column); }
  std::string_view blob(int column) const override { return inner_->blob(column); }
  int64_t number(int column) const override { return inner_->number(column); }
  void reset() override {
    inner_.reset();
    is_said_ = false;
  }

 private:
  Query& here() {
    if (!inner_) {
      Result<Query> query = database_.server_.data_->query(sql_);
      INVARIANT(query);
      inner_.emplace(*std::move(query));
    }
    return *inner_;
  }

  LossyDatabase& database_;
  const char* sql_;
  bool is_said_ = false;
  std::optional<Query> inner_;
};

class LossyDatabase::Lock : public StoreLock {
 public:
  Lock(LossyDatabase& database, std::string name)
      : database_(database), name_(std::move(name)), connection_(database.connection_) {}
  ~Lock() override {
    if (is_held())
      database_.server_.locks_.erase(name_);
  }
  bool is_held() override { return connection_ == database_.connection_; }
  void regain() override {
    if (!is_held() && database_.server_.locks_.emplace(name_, database_.connection_).second)
      connection_ = database_.connection_;
  }
  void leave_nothing() override {}

 private:
  LossyDatabase& database_;
  std::string name_;
  uint64_t connection_;
};

LossyDatabase::LossyDatabase(LossyServer& server, std::function<Loss(Saying)> loss)
    : server_(server), loss_(std::move(loss)), connection_(++server.connections_) {}

LossyDatabase::~LossyDatabase() { lose(); }

Error LossyDatabase::lost() { return world_error("the connection to the store was lost"); }

void LossyDatabase::lose() {
  std::erase_if(server_.locks_, [this](const auto& lock) { return lock.second == connection_; });
  connection_ = ++server_.connections_;
  is_broken_ = is_in_transaction_;
  inner_.reset();  // and is rolled back
}

Status LossyDatabase::say(Saying saying) {
  if (is_broken_ || is_dead_)
    return lost();
  const Loss loss = loss_ ? loss_(saying) : Loss::none;
  if (loss == Loss::none)
    return {};
  is_dead_ |= loss == Loss::dead;
  lose();
  const bool may_be_said_again = saying == Saying::read || saying == Saying::begin;
  return may_be_said_again && loss != Loss::away && loss != Loss::dead ? Status() : Status(lost());
}

Status LossyDatabase::execute(const char* sql) {
  TRY(say(is_in_transaction_ ? Saying::statement : Saying::begin));
  return server_.data_->execute(sql);
}

Result<PreparedStatement*> LossyDatabase::prepare(const char* sql) {
  std::unique_ptr<PreparedStatement>& prepared = prepared_[sql];
  if (prepared == nullptr)
    prepared = std::make_unique<Statement>(*this, sql);
  return prepared.get();
}

Status LossyDatabase::begin(std::initializer_list<Turn> turns) {
  INVARIANT(!is_in_transaction_);
  has_happened_ = false;
  TRY(say(Saying::begin));
  inner_.emplace(TRY(Transaction::begin(*server_.data_, turns)));
  is_in_transaction_ = true;
  return {};
}

Status LossyDatabase::commit() {
  if (is_broken_ || is_dead_)
    return lost();
  const Loss loss = loss_ ? loss_(Saying::commit) : Loss::none;
  const bool is_written = loss == Loss::none || loss == Loss::after;
  if (is_written) {
    TRY(inner_->commit());
    has_happened_ = true;
    ++server_.commits_;
  }
  if (loss == Loss::none) {
    inner_.reset();
    is_in_transaction_ = false;
    return {};
  }
  is_dead_ |= loss == Loss::dead;
  lose();
  Error error = lost();
  error.message += "; nobody knows whether the last change was written";
  error.unknown_outcome = true;
  return error;
}

void LossyDatabase::roll_back() {
  inner_.reset();
  is_in_transaction_ = false;
  is_broken_ = false;
}

Result<std::unique_ptr<StoreLock>> LossyDatabase::take_lock(std::string_view name) {
  TRY(say(Saying::begin));
  const bool is_taken = server_.locks_.emplace(name, connection_).second;
  return std::unique_ptr<StoreLock>(is_taken ? std::make_unique<Lock>(*this, std::string(name))
                                             : nullptr);
}

Result<bool> LossyDatabase::is_locked(std::string_view name) {
  TRY(say(Saying::read));
  return server_.locks_.contains(name);
}

}  // namespace fettle::sim
