#include "store/postgres.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr Oid type_of_bytes = 17, type_of_number = 20;

/// More answers than this could fill the connection while nobody takes them.
constexpr size_t most_sent = 100;

constexpr int64_t longest_poll_ms = 1'000'000'000;

/// `?` and `?2` as `$1` and `$2`. As in SQLite, one without a number follows the largest so far.
std::string with_numbered_places(std::string_view sql) {
  std::string written;
  size_t largest = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < sql.size(); ++i) {
    is_quoted ^= sql[i] == '\'';
    if (sql[i] != '?' || is_quoted) {
      written += sql[i];
      continue;
    }
    size_t number = 0;
    for (; i + 1 < sql.size() && sql[i + 1] >= '0' && sql[i + 1] <= '9'; ++i)
      number = number * 10 + static_cast<size_t>(sql[i + 1] - '0');
    number = number == 0 ? largest + 1 : number;
    largest = std::max(largest, number);
    written += cat("$", number);
  }
  return written;
}

uint64_t swapped(uint64_t number) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

}  // namespace

/// All texts are bytes for the server: they may be no UTF-8, and their order is that of SQLite. The
/// first use of a statement is one message; from the second on it is prepared.
class Postgres::Statement : public PreparedStatement {
 public:
  Statement(Postgres& database, const char* sql, size_t number)
      : database_(database),
        sql_(with_numbered_places(sql)),
        name_(cat("s", number)),
        is_read_(sql_.starts_with("SELECT")),
        has_rows_(is_read_ || sql_.starts_with("FETCH") || sql_.find("RETURNING") != sql_.npos) {}
  ~Statement() override { reset(); }

  void bind(int place, std::string_view value, Type, bool is_kept) override {
    Parameter& parameter = at(place);
    parameter.type = type_of_bytes;
    if (!is_kept)
      parameter.owned = value;
    parameter.bytes = is_kept ? value : std::string_view();
    parameter.is_owned = !is_kept;
  }
  void bind(int place, int64_t number) override {
    Parameter& parameter = at(place);
    parameter.type = type_of_number;
    const uint64_t word = swapped(static_cast<uint64_t>(number));
    parameter.owned.assign(reinterpret_cast<const char*>(&word), sizeof word);
    parameter.is_owned = true;
  }

  Result<bool> step() override {
    if (result_ != nullptr)
      return ++row_ < rows_;
    TRY(database_.take_answers());
    const int64_t connection = database_.connections_;
    TRY(database_.stay_connected());
    Status ran = ask();
    // A read on a connection that was lost while nobody used it.
    if (!ran && is_read_ && database_.is_lost() && !database_.is_in_transaction_ &&
        connection == database_.connections_) {
      TRY(database_.connect());
      ran = ask();
    }
    TRY(std::move(ran));
    row_ = 0;
    rows_ = database_.library_.rows(result_);
    return rows_ > 0;
  }

  /// What a transaction writes is sent without waiting for an answer after each row.
  Status run() override {
    if (has_rows_ || !database_.is_in_transaction_)
      return PreparedStatement::run();
    if (database_.late_error_)
      return *database_.late_error_;
    TRY(database_.stay_connected());
    const PostgresLibrary& library = database_.library_;
    const bool is_first = is_first_use();
    if (!is_first)
      TRY(prepare());
    if (database_.sent_ == 0)
      library.enter_pipeline(database_.connection_);
    const Values values(parameters_);
    return database_.was_sent(
        is_first ? library.send_params(database_.connection_, sql_.c_str(), values.count,
                                       values.types.data(), values.bytes.data(),
                                       values.lengths.data(), values.formats.data(), 1)
                 : library.send_prepared(database_.connection_, name_.c_str(), values.count,
                                         values.bytes.data(), values.lengths.data(),
                                         values.formats.data(), 1));
  }

  std::string_view text(int column) const override { return blob(column); }
  std::string_view blob(int column) const override {
    return {database_.library_.value(result_, row_, column), size_of(column)};
  }
  /// Truths and small numbers have fewer bytes. Null is 0.
  int64_t number(int column) const override {
    const std::string_view bytes = blob(column);
    uint64_t number = 0;
    for (const char byte : bytes)
      number = number << 8 | static_cast<unsigned char>(byte);
    return bytes.size() == sizeof(int32_t) ? static_cast<int32_t>(number)
                                           : static_cast<int64_t>(number);
  }
  void reset() override {
    if (result_ != nullptr)
      database_.library_.clear(std::exchange(result_, nullptr));
  }

 private:
  struct Parameter {
    Oid type = type_of_bytes;
    std::string_view bytes;
    std::string owned;
    bool is_owned = false;
    std::string_view value() const { return is_owned ? owned : bytes; }
  };

  Parameter& at(int place) {
    if (parameters_.size() < static_cast<size_t>(place))
      parameters_.resize(static_cast<size_t>(place));
    return parameters_[static_cast<size_t>(place) - 1];
  }
  size_t size_of(int column) const {
    return static_cast<size_t>(database_.library_.length(result_, row_, column));
  }

  /// As libpq takes them.
  struct Values {
    explicit Values(const std::vector<Parameter>& parameters)
        : count(static_cast<int>(parameters.size())), formats(parameters.size(), 1) {
      for (const Parameter& parameter : parameters) {
        const std::string_view value = parameter.value();
        types.push_back(parameter.type);
        bytes.push_back(value.data() == nullptr ? "" : value.data());
        lengths.push_back(static_cast<int>(value.size()));
      }
    }
    int count;
    std::vector<Oid> types;
    std::vector<const char*> bytes;
    std::vector<int> lengths, formats;
  };

  bool is_first_use() {
    return std::exchange(used_on_, database_.connections_) != database_.connections_;
  }

  Status prepare() {
    if (prepared_on_ == database_.connections_)
      return {};
    TRY(database_.take_answers());
    const Values values(parameters_);
    PGresult* const made = database_.answer_to(database_.library_.send_prepare(
        database_.connection_, name_.c_str(), sql_.c_str(), values.count, values.types.data()));
    TRY(check(made, PGRES_COMMAND_OK));
    database_.library_.clear(made);
    prepared_on_ = database_.connections_;
    return {};
  }

  Status ask() {
    const PostgresLibrary& library = database_.library_;
    const bool is_first = is_first_use();
    if (!is_first)
      TRY(prepare());
    const Values values(parameters_);
    PGresult* const result = database_.answer_to(
        is_first ? library.send_params(database_.connection_, sql_.c_str(), values.count,
                                       values.types.data(), values.bytes.data(),
                                       values.lengths.data(), values.formats.data(), 1)
                 : library.send_prepared(database_.connection_, name_.c_str(), values.count,
                                         values.bytes.data(), values.lengths.data(),
                                         values.formats.data(), 1));
    TRY(check(result, PGRES_TUPLES_OK));
    result_ = result;
    database_.changes_ = std::atoll(library.command_rows(result));
    return {};
  }

  /// Gives the answer back if it is an error.
  Status check(PGresult* result, ExecStatusType wanted) const {
    const ExecStatusType status = database_.library_.result_status(result);
    if (status == wanted || status == PGRES_COMMAND_OK)
      return {};
    Error error = database_.error_of(result);
    database_.library_.clear(result);
    return error;
  }

  Postgres& database_;
  std::string sql_, name_;
  bool is_read_, has_rows_;
  std::vector<Parameter> parameters_;
  int64_t used_on_ = 0, prepared_on_ = 0;
  PGresult* result_ = nullptr;
  int row_ = 0, rows_ = 0;
};

/// An advisory lock of the connection on which it was taken.
class Postgres::Lock : public StoreLock {
 public:
  Lock(Postgres& database, int64_t key)
      : database_(database), key_(key), connection_(database.connections_) {}
  ~Lock() override {
    if (!is_held())
      return;
    database_.taken_.erase(key_);
    static_cast<void>(database_.run(cat("SELECT pg_advisory_unlock(", key_, ")")));
  }
  bool is_held() override { return connection_ == database_.connections_ && !database_.is_lost(); }
  void regain() override {
    if (is_held())
      return;
    if (const Result<bool> taken = database_.take_key(key_); taken && *taken)
      connection_ = database_.connections_;
  }
  void leave_nothing() override {}

 private:
  Postgres& database_;
  int64_t key_;
  int64_t connection_;
};

Result<std::unique_ptr<Postgres>> Postgres::open(PostgresAddress address, Duration silence) {
  const PostgresLibrary* const library = TRY(postgres_library());
  std::unique_ptr<Postgres> database(new Postgres(*library, std::move(address), silence));
  TRY(database->connect());
  return database;
}

Postgres::~Postgres() {
  prepared_.clear();
  if (connection_ != nullptr)
    library_.finish(connection_);
}

Result<PreparedStatement*> Postgres::prepare(const char* sql) {
  std::unique_ptr<PreparedStatement>& prepared = prepared_[sql];
  if (prepared == nullptr)
    prepared = std::make_unique<Statement>(*this, sql, prepared_.size());
  return prepared.get();
}

std::string Postgres::text_of(const PGresult* result, int column) const {
  return library_.value(result, 0, column);
}

bool Postgres::await_server(short events) {
  pollfd waited{library_.socket(connection_), events, 0};
  const Instant limit = instant_from_clock() + silence_;
  while (true) {
    const int64_t left =
        std::chrono::ceil<std::chrono::milliseconds>(limit - instant_from_clock()).count();
    const int64_t wait = silence_.count() == 0 ? -1 : std::clamp<int64_t>(left, 0, longest_poll_ms);
    const int ready = poll(&waited, 1, static_cast<int>(wait));
    if (ready > 0)
      return true;
    if ((ready == 0 && left <= longest_poll_ms) || (ready < 0 && errno != EINTR))
      break;
  }
  is_broken_ = true;
  is_silent_ = true;
  return false;
}

/// As `PQgetResult`, which would wait for ever: for a server that stands still, the system of its
/// machine goes on answering.
PGresult* Postgres::next_answer() {
  if (is_broken_)
    return nullptr;
  for (int unsent = 0; (unsent = library_.flush(connection_)) == 1;) {
    // What the server has to say must be taken before it takes more.
    if (!await_server(POLLIN | POLLOUT))
      return nullptr;
    if (library_.consume_input(connection_) != 1)
      break;
  }
  while (library_.is_busy(connection_) == 1) {
    if (!await_server(POLLIN))
      return nullptr;
    if (library_.consume_input(connection_) != 1)
      break;
  }
  return library_.get_result(connection_);
}

PGresult* Postgres::answer_to(int code) {
  if (code != 1) {
    is_broken_ = true;
    return nullptr;
  }
  PGresult* const answer = next_answer();
  while (PGresult* const more = next_answer())
    library_.clear(more);
  return answer;
}

Status Postgres::was_sent(int code) {
  if (code != 1) {
    is_broken_ = true;
    return lost_error();
  }
  return ++sent_ < most_sent ? Status() : take_answers();
}

Status Postgres::take_answers() {
  if (sent_ > 0 && !is_lost()) {
    library_.sync_pipeline(connection_);
    // Each is followed by nothing, and the last one by the answer to the question itself.
    for (size_t i = 0; i <= sent_ && !is_lost(); ++i) {
      PGresult* const result = next_answer();
      const ExecStatusType status = library_.result_status(result);
      if (status == PGRES_COMMAND_OK)
        changes_ = std::atoll(library_.command_rows(result));
      else if (status != PGRES_PIPELINE_SYNC && !late_error_)
        late_error_ = error_of(result);
      library_.clear(result);
      if (i < sent_ && !is_lost())
        library_.clear(next_answer());
    }
    if (!is_lost())
      library_.exit_pipeline(connection_);
  }
  if (std::exchange(sent_, 0) > 0 && is_lost() && !late_error_)
    late_error_ = lost_error();
  return late_error_ ? Status(*late_error_) : Status();
}

int64_t Postgres::changes() {
  static_cast<void>(take_answers());  // an error is told by the next statement
  return changes_;
}

Status Postgres::run(const std::string& sql, const AnswerReader& read) {
  TRY(take_answers());
  if (library_.send_query(connection_, sql.c_str()) != 1) {
    is_broken_ = true;
    return lost_error();
  }
  std::optional<Error> failure;
  // All answers have to be taken, also those behind an error.
  while (PGresult* const result = next_answer()) {
    const ExecStatusType status = library_.result_status(result);
    const bool is_good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
    if (is_good && read && !failure)
      read(result);
    if (!is_good && !failure)
      failure = error_of(result);
    if (std::string_view(library_.command_status(result)) == "ROLLBACK" && sql != "ROLLBACK" &&
        !failure)
      failure = world_error(cat("the store `", name(), "` took back what was written"));
    library_.clear(result);
    if (is_lost())
      break;
  }
  if (!failure && is_lost())
    failure = lost_error();
  return failure ? Status(*std::move(failure)) : Status();
}

Status Postgres::run_first(const std::string& sql, const AnswerReader& read) {
  TRY(stay_connected());
  Status ran = run(sql, read);
  if (ran || !is_lost() || is_in_transaction_)
    return ran;
  TRY(connect());
  return run(sql, read);
}

Status Postgres::execute(const char* sql) { return run_first(sql); }

int64_t Postgres::key_of(std::string_view name) const {
  return static_cast<int64_t>(hash64(cat("fettle ", address_.schema, " ", name)));
}

std::string Postgres::turn_sql(const Turn& turn) const {
  return cat("SELECT pg_advisory_xact_lock", turn.is_shared ? "_shared" : "", "(",
             key_of(cat("turn ", static_cast<int>(turn.kind), " ", turn.world)), ")");
}

Status Postgres::begin(std::initializer_list<Turn> turns) {
  std::string sql = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
  for (const Turn& turn : turns)
    sql += cat("; ", turn_sql(turn));
  has_right_ = std::ranges::any_of(turns, &Turn::has_right);
  return begin_with(sql);
}

Status Postgres::begin_with(const std::string& sql) {
  INVARIANT(!is_in_transaction_);
  Status begun = run_first(sql);
  is_in_transaction_ = true;
  if (!begun)
    roll_back();
  return begun;
}

Status Postgres::take(const Turn& turn) { return run(turn_sql(turn)); }

/// A statement that fails if the store has another key by now, so that nothing is committed. It comes
/// last: whoever changes the key keeps others from writing meanwhile, and they are behind that. A
/// right ends with the key, and who has one compares its number.
std::string Postgres::key_check() const {
  if (key_id().empty() || has_right_)
    return {};
  return cat("SELECT 1/(value='", key_id(), "')::int FROM settings WHERE name='key'; ");
}

/// Others are told in a transaction of its own: those that notify come one after another, and would
/// wait for each other's writes to the disk. The server has both in one message, so that it says the
/// second even if this process dies in between. Where it cannot, what was written stays written, and
/// the news comes with the next.
Status Postgres::commit() {
  TRY(take_answers());
  if (is_lost())
    return lost_error();
  bool is_committed = false, has_begun = false;
  Status ended = run(cat(key_check(), "COMMIT; NOTIFY ", channel()), [&](PGresult* answer) {
    has_begun = true;
    is_committed |= std::string_view(library_.command_status(answer)) == "COMMIT";
  });
  if (is_committed) {
    is_in_transaction_ = false;
    return {};
  }
  if (!ended && is_lost()) {
    Error error = std::move(ended).error();
    error.message += "; nobody knows whether the last change was written";
    error.unknown_outcome = true;
    return error;
  }
  const bool has_other_key = !ended && !has_begun && !key_check().empty();
  return has_other_key ? Status(changed_key_error()) : ended;
}

void Postgres::roll_back() {
  static_cast<void>(take_answers());
  late_error_.reset();
  if (!is_lost())
    static_cast<void>(run("ROLLBACK"));
  is_in_transaction_ = false;
}

Result<bool> Postgres::take_key(int64_t key) {
  TRY(stay_connected());
  if (taken_.contains(key))
    return false;
  bool is_taken = false;
  TRY(run_first(cat("SELECT pg_try_advisory_lock(", key, ")"),
                [&](const PGresult* result) { is_taken = text_of(result, 0) == "t"; }));
  if (is_taken)
    taken_.insert(key);
  return is_taken;
}

Result<std::unique_ptr<StoreLock>> Postgres::take_lock(std::string_view name) {
  const int64_t key = key_of(name);
  return std::unique_ptr<StoreLock>(TRY(take_key(key)) ? std::make_unique<Lock>(*this, key)
                                                       : nullptr);
}

Result<bool> Postgres::is_locked(std::string_view name) {
  Query locks = TRY(query(
      "SELECT 1 FROM pg_locks WHERE locktype='advisory' AND database=(SELECT oid FROM pg_database "
      "WHERE datname=current_database()) AND objsubid=1 AND granted AND ((classid::bigint << 32) | "
      "objid::bigint)=?"));
  locks.bind(key_of(name));
  return locks.step();
}

Result<std::vector<DatabaseSession>> Postgres::sessions_with(std::string_view name) {
  Query query = TRY(this->query(
      "SELECT l.pid, r.rolname, (NOT r.rolsuper OR (SELECT rolsuper FROM pg_roles WHERE "
      "rolname=current_user)) AND (pg_has_role(r.oid, 'USAGE') OR pg_has_role('pg_signal_backend', "
      "'USAGE')) FROM pg_locks l JOIN pg_stat_activity a ON a.pid=l.pid JOIN pg_roles r ON "
      "r.oid=a.usesysid WHERE l.locktype='advisory' AND l.database=(SELECT oid FROM pg_database "
      "WHERE datname=current_database()) AND l.objsubid=1 AND l.granted AND "
      "l.pid<>pg_backend_pid() "
      "AND ((l.classid::bigint << 32) | l.objid::bigint)=? ORDER BY l.pid"));
  query.bind(key_of(name));
  std::vector<DatabaseSession> sessions;
  while (TRY(query.step()))
    sessions.push_back({query.number(0), std::string(query.text(1)), query.number(2) != 0});
  return sessions;
}

Status Postgres::end_session(const DatabaseSession& session) {
  Query query = TRY(this->query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid=?::integer"));
  query.bind(session.id);
  if (TRY(query.step()) && query.number(0) == 0)
    return world_error(cat("the store `", this->name(), "` did not end the session ", session.id,
                           " of `", session.user, "` within 5 s"));
  return {};
}

std::string Postgres::channel() const {
  return cat("fettle_", to_string(fingerprint(address_.schema)));
}

bool Postgres::hear_others() {
  bool others = false;
  library_.consume_input(connection_);
  while (PGnotify* const told = library_.notifies(connection_)) {
    others |= told->be_pid != backend_;
    library_.free(told);
  }
  return others;
}

/// The server passes on, with each answer, everything that was notified before the question.
Result<int64_t> Postgres::stamp() {
  TRY(run_first("SELECT 1"));
  if (!listens_)
    TRY(run(cat("LISTEN ", channel())));
  listens_ = true;
  if (hear_others())
    ++stamp_;
  return stamp_;
}

bool Postgres::listen(const std::function<void()>& tell, int bell, const std::stop_token& stop) {
  if (!run(cat("LISTEN ", channel())))
    return false;
  tell();  // whatever was written before was not heard
  while (!stop.stop_requested()) {
    if (hear_others())
      tell();
    if (is_lost())
      return false;
    std::array<pollfd, 2> waited{{{library_.socket(connection_), POLLIN, 0}, {bell, POLLIN, 0}}};
    if (poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR)
      return false;
  }
  return true;
}

bool Postgres::watch(const std::function<void()>& tell, std::stop_token stop) {
  constexpr int pause_ms = 1'000;
  Result<std::unique_ptr<Postgres>> own = open(address_, silence_);
  const Descriptor bell(eventfd(0, EFD_CLOEXEC));
  if (!own || !bell.is_open())
    return false;
  const std::stop_callback ring(stop, [&] {
    const uint64_t one = 1;
    static_cast<void>(!write(bell.get(), &one, sizeof one));
  });
  while (!stop.stop_requested() && !(*own)->listen(tell, bell.get(), stop)) {
    pollfd ended{bell.get(), POLLIN, 0};
    poll(&ended, 1, pause_ms);
    if (!stop.stop_requested())
      static_cast<void>((*own)->connect());  // else the next time
  }
  return true;
}

}  // namespace fettle
