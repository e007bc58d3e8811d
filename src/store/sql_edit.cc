#include "store/sql_edit.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/environment_name.h"
#include "store/columns.h"
#include "store/record_codec.h"
#include "store/references.h"
#include "store/sql_versions.h"

namespace fettle {
namespace {

Status put_row(Database& database, const Environment& environment) {
  return TRY(database.query("INSERT INTO environments(name, uuid, created, detail, removing) "
                            "VALUES(?,?,?,?,0) ON CONFLICT(name) DO UPDATE SET "
                            "detail=excluded.detail, removing=0"))
      .bind(environment.name.view())
      .bind(environment.uuid)
      .bind(count_of(environment.created))
      .bind_blob(bytes_of(environment.detail, database))
      .run();
}

Status put_note_row(Database& database, const Name& environment, std::string_view name,
                    const Value& value) {
  if (value.is_null())
    return TRY(database.query("DELETE FROM notes WHERE environment=? AND name=?"))
        .bind(environment.view())
        .bind(name)
        .run();
  return TRY(database.query(
                 "INSERT INTO notes VALUES(?,?,?) ON CONFLICT(environment, name) DO UPDATE SET "
                 "value=excluded.value"))
      .bind(environment.view())
      .bind(name)
      .bind_blob(bytes_of(value, database))
      .run();
}

Result<std::optional<Holder>> holder_in(Database& database, const Name& environment) {
  Query query = TRY(
      database.query("SELECT process, machine, what, since, role FROM leases WHERE environment=?"));
  query.bind(environment.view());
  if (!TRY(query.step()) || query.number(0) == 0)
    return std::optional<Holder>();
  return std::optional(
      Holder{query.number(0), std::string(query.text(1)), std::string(query.text(2)),
             time_of(query.number(3)),
             query.number(4) == 1 ? Holder::Role::controller : Holder::Role::command});
}

Status write_event_row(Database& database, const Event& event) {
  return TRY(database.query("INSERT INTO events(time, type, environment, kind, name, verb, "
                            "because_kind, because_name, text, detail) "
                            "VALUES(?,?,?,?,?,?,?,?,?,?)"))
      .bind(count_of(event.time))
      .bind(static_cast<int64_t>(event.type))
      .bind(event.environment.view())
      .bind(event.key.kind.view())
      .bind(event.key.name.view())
      .bind(static_cast<int64_t>(event.verb))
      .bind(event.because.kind.view())
      .bind(event.because.name.view())
      .bind(event.text)
      .bind_blob(bytes_of(event.detail, database))
      .run();
}

/// A number that nobody has had. It is drawn within a transaction.
Result<int64_t> next_token(Database& database) {
  TRY(
      database.execute("INSERT INTO counters VALUES('leases',1) ON CONFLICT(name) DO UPDATE SET "
                       "value=counters.value+1"));
  Query counted = TRY(database.query("SELECT value FROM counters WHERE name='leases'"));
  TRY(counted.step());
  return counted.number(0);
}

class SqlEdit : public Edit {
 public:
  SqlEdit(Database& database, Name environment, std::unique_ptr<StoreLock> lock, int64_t token)
      : database_(database),
        environment_(std::move(environment)),
        lock_(std::move(lock)),
        token_(token) {}

  ~SqlEdit() override {
    // Only the lock counts, and it ends in any case.
    static_cast<void>(transaction([this]() -> Status {
      return TRY(database_.query(is_removed_ ? "DELETE FROM leases WHERE environment=?"
                                             : "UPDATE leases SET process=0 WHERE environment=?"))
          .bind(environment_.view())
          .run();
    }));
    if (is_removed_)
      lock_->leave_nothing();
  }

  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return static_cast<uint64_t>(token_); }

  Status write(std::span<const Change> changes) override {
    if (changes.empty())
      return {};
    referred_.clear();
    return transaction([&]() -> Status {
      for (const Change& change : changes)
        TRY(write(change));
      TRY(release_referred());
      if (std::ranges::any_of(changes, is_move))
        TRY(move_events(changes));
      return {};
    });
  }

  Status put_environment(const Environment& environment) override {
    return transaction([&] { return put_row(database_, environment); });
  }

  Status put_note(std::string_view name, const Value& value) override {
    return transaction([&] { return put_note_row(database_, environment_, name, value); });
  }

  Status begin_removal() override {
    return transaction([this]() -> Status {
      return TRY(database_.query("UPDATE environments SET removing=1 WHERE name=?"))
          .bind(environment_.view())
          .run();
    });
  }

  Status remove_environment() override {
    TRY(begin_removal());
    // A push that is under way ends first, and is refused because the environment is being removed.
    const std::unique_ptr<StoreLock> no_push =
        TRY(wait_for_lock(database_, push_lock_name(environment_)));
    TRY(remove_versions(database_, environment_, [this] { return check_right(); }));
    TRY(transaction([this]() -> Status {
      for (const char* sql :
           {"DELETE FROM environments WHERE name=?", "DELETE FROM records WHERE environment=?",
            "DELETE FROM record_uses WHERE environment=?", "DELETE FROM notes WHERE environment=?"})
        TRY(TRY(database_.query(sql)).bind(environment_.view()).run());
      return {};
    }));
    is_removed_ = true;
    return {};
  }

 private:
  static bool is_move(const Change& change) { return change.type == Change::moved; }

  Status write(const Change& change) {
    switch (change.type) {
      case Change::record:
        return write_record(change);
      case Change::forget:
        return forget(change);
      case Change::event:
        return write_event_row(database_, change.logged);
      case Change::moved:
        return {};
    }
    return {};
  }

  /// Runs a transaction, which is refused if somebody else has the right by now.
  Status transaction(const std::function<Status()>& write) {
    Turn turn = turn_of(environment_);
    turn.has_right = true;
    Transaction transaction = TRY(Transaction::begin(database_, {turn}));
    TRY(check_right());
    lock_->regain();  // not before: whoever was overtaken must not keep others out
    TRY(write());
    return transaction.commit();
  }

  Status check_right() {
    // The row stays as it is until this transaction ends, whatever became of the lock.
    Query query =
        TRY(database_.query(database_.dialect() == Database::Dialect::sqlite
                                ? "SELECT token FROM leases WHERE environment=?"
                                : "SELECT token FROM leases WHERE environment=? FOR UPDATE"));
    query.bind(environment_.view());
    if (TRY(query.step()) && query.number(0) == token_)
      return {};
    const std::optional<Holder> other = TRY(holder_in(database_, environment_));
    const bool is_failed_over = TRY(is_noted(failed_over_note));
    return world_error(cat("the lock on `", environment_, "` was lost",
                           other            ? cat(" to ", to_string(*other))
                           : is_failed_over ? std::string(" when the store was failed over")
                                            : std::string(),
                           "; nothing more was recorded"));
  }

  Result<bool> is_noted(std::string_view name) {
    Query query = TRY(database_.query("SELECT 1 FROM notes WHERE environment=? AND name=?"));
    query.bind(environment_.view()).bind(name);
    return query.step();
  }

  Status write_record(const Change& change) {
    const Key& key = change.key;
    const std::string body = encode(*change.written, database_.sealing());
    TRY(TRY(query_of(key,
                     "INSERT INTO records VALUES(?,?,?,?) ON CONFLICT(environment, kind, name) DO "
                     "UPDATE SET "
                     "body=excluded.body"))
            .bind_kept(body)
            .run());
    return write_uses(key, digests_in(*change.written));
  }

  /// A query whose first values are the parts of a key. The key must outlive it.
  Result<Query> query_of(const Key& key, const char* sql) {
    Query query = TRY(database_.query(sql));
    query.bind_kept_text(key.environment.view())
        .bind_kept_text(key.kind.view())
        .bind_kept_text(key.name.view());
    return query;
  }

  /// Writes the references of a record, so that their contents are not cleared.
  Status write_uses(const Key& key, const std::vector<std::string>& digests) {
    if (digests.empty() && !TRY(refers()))
      return {};
    const std::vector<std::string> before = TRY(uses_of(key));
    if (before == digests)
      return {};
    if (referred_.empty())
      TRY(database_.take(turn_of_users));
    TRY(forget_uses(key));
    refers_ = true;
    for (const std::string& digest : digests) {
      TRY(TRY(database_.query("INSERT INTO record_uses VALUES(?,?,?,?) ON CONFLICT DO NOTHING"))
              .bind(digest)
              .bind(key.environment.view())
              .bind(key.kind.view())
              .bind(key.name.view())
              .run());
      referred_.insert(digest);
    }
    return {};
  }

  /// Contents that a record refers to belong to no session any more. In the order of their names:
  /// two that refer to the same ones must not wait for each other.
  Status release_referred() {
    for (const std::string& digest : std::exchange(referred_, {}))
      TRY(TRY(database_.query("UPDATE blobs SET session='' WHERE digest=?")).bind(digest).run());
    return {};
  }

  /// Whether any record of the environment refers to anything. Only this edit writes such
  /// references.
  Result<bool> refers() {
    if (refers_)
      return *refers_;
    Query query = TRY(database_.query("SELECT 1 FROM record_uses WHERE environment=? LIMIT 1"));
    query.bind(environment_.view());
    refers_ = TRY(query.step());
    return *refers_;
  }

  Result<std::vector<std::string>> uses_of(const Key& key) {
    Query query = TRY(query_of(key,
                               "SELECT digest FROM record_uses WHERE environment=? AND kind=? AND "
                               "name=? ORDER BY digest"));
    std::vector<std::string> found;
    while (TRY(query.step()))
      found.emplace_back(query.text(0));
    return found;
  }

  Status forget_uses(const Key& key) {
    return TRY(query_of(key, "DELETE FROM record_uses WHERE environment=? AND kind=? AND name=?"))
        .run();
  }

  Status forget(const Change& change) {
    const Key& key = change.key;
    TRY(TRY(query_of(key, "DELETE FROM records WHERE environment=? AND kind=? AND name=?")).run());
    return forget_uses(key);
  }

  /// Moves all at once, because one may take the key that another one gives up.
  Status move_events(std::span<const Change> changes) {
    TRY(database_.execute(
        database_.dialect() == Database::Dialect::sqlite
            ? "CREATE TEMP TABLE IF NOT EXISTS moved(kind TEXT, before TEXT, after TEXT, "
              "PRIMARY KEY(kind, before)) WITHOUT ROWID; DELETE FROM temp.moved"
            : "CREATE TEMP TABLE IF NOT EXISTS moved(kind BYTEA, before BYTEA, after BYTEA, "
              "PRIMARY KEY(kind, before)); DELETE FROM moved"));
    for (const Change& change : changes)
      if (change.type == Change::moved)
        TRY(TRY(database_.query("INSERT INTO moved VALUES(?,?,?)"))
                .bind(change.key.kind.view())
                .bind(change.key.name.view())
                .bind(change.logged.key.name.view())
                .run());
    for (const char* sql : {"UPDATE events SET name=moved.after FROM moved WHERE "
                            "events.environment=? AND events.kind=moved.kind AND "
                            "events.name=moved.before",
                            "UPDATE events SET because_name=moved.after FROM moved WHERE "
                            "events.environment=? AND because_kind=moved.kind AND "
                            "because_name=moved.before"})
      TRY(TRY(database_.query(sql)).bind(environment_.view()).run());
    return {};
  }

  Database& database_;
  Name environment_;
  std::unique_ptr<StoreLock> lock_;
  int64_t token_;
  bool is_removed_ = false;
  std::optional<bool> refers_;      ///< none: not asked yet
  std::set<std::string> referred_;  ///< contents, in the transaction that is open
};

class SqlWish : public Wish {
 public:
  SqlWish(Database& database, Name environment)
      : database_(database), environment_(std::move(environment)) {}

  Status ensure_environment(const Environment& otherwise) override {
    Query query = TRY(database_.query("SELECT 1 FROM environments WHERE name=?"));
    query.bind(environment_.view());
    if (TRY(query.step()))
      return {};
    TRY(check_environment_name(otherwise.name.view()));
    return put_row(database_, otherwise);
  }

  Result<std::optional<Value>> note(std::string_view name) override {
    Query query = TRY(database_.query("SELECT value FROM notes WHERE environment=? AND name=?"));
    query.bind(environment_.view()).bind(name);
    if (!TRY(query.step()))
      return std::optional<Value>();
    return std::optional(TRY(value_of(query.blob(0), database_)));
  }

  Status put_note(std::string_view name, const Value& value) override {
    return put_note_row(database_, environment_, name, value);
  }

  Status commit(StagedVersion& staged, Time now) override {
    TRY(add_version(staged, now));
    added_.push_back(&staged);
    return {};
  }

  Status release(uint64_t number, Time now) override {
    return release_version_row(database_, environment_, number, now);
  }

  void keep() {
    for (StagedVersion* staged : added_)
      keep_version(*staged);
  }

 private:
  Database& database_;
  Name environment_;
  std::vector<StagedVersion*> added_;
};

}  // namespace

Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_sql_edit(Database& database,
                                                                   const Name& environment,
                                                                   const Holder& me) {
  std::unique_ptr<StoreLock> lock = TRY(database.take_lock(edit_lock_name(environment)));
  if (lock == nullptr)
    return TRY(holder_in(database, environment)).value_or(Holder{0, {}, "another process", {}});
  Transaction transaction = TRY(Transaction::begin(database, {turn_of(environment)}));
  const int64_t token = TRY(next_token(database));
  TRY(TRY(database.query(
              "INSERT INTO leases VALUES(?,?,?,?,?,?,?) ON CONFLICT(environment) DO UPDATE SET "
              "token=excluded.token, process=excluded.process, machine=excluded.machine, "
              "what=excluded.what, since=excluded.since, role=excluded.role"))
          .bind(environment.view())
          .bind(token)
          .bind(me.process)
          .bind(me.machine)
          .bind(me.what)
          .bind(count_of(me.since))
          .bind(int64_t{me.role == Holder::Role::controller})
          .run());
  TRY(transaction.commit());
  return std::unique_ptr<Edit>(
      std::make_unique<SqlEdit>(database, environment, std::move(lock), token));
}

Result<std::optional<Holder>> sql_holder(Database& database, const Name& environment) {
  if (!TRY(database.is_locked(edit_lock_name(environment))))
    return std::optional<Holder>();
  return holder_in(database, environment);
}

namespace {

Error not_taken(const Name& environment, const Holder& holder) {
  return world_error(
      cat(to_string(holder), " does not act on `", environment, "` any more; nothing was done"));
}

/// The sessions that have the right; each may be ended.
Result<std::vector<DatabaseSession>> sessions_of(Database& database, const Name& environment,
                                                 const Holder& holder) {
  if (database.dialect() == Database::Dialect::sqlite)
    return user_error(cat("`", environment, "` is in use by ", to_string(holder),
                          ", and the store is a file: a right there ends with its process, so "
                          "there is nothing to unlock; end it with `kill ",
                          holder.process, "`, or with `kill -9 ", holder.process,
                          "` if it does not answer"));
  std::vector<DatabaseSession> sessions = TRY(database.sessions_with(edit_lock_name(environment)));
  if (sessions.empty())
    return not_taken(environment, holder);
  for (const DatabaseSession& session : sessions)
    if (!session.may_end)
      return user_error(cat("the right of ", to_string(holder), " belongs to session ", session.id,
                            " of the role `", session.user,
                            "`, which yours may not end: have somebody run `SELECT "
                            "pg_terminate_backend(",
                            session.id, ")`, or be a member of `", session.user,
                            "` or of `pg_signal_backend`"));
  return sessions;
}

/// Writes another number, and who has drawn it. False: `holder` has the right no more.
Result<bool> overtake(Database& database, const Name& environment, const Holder& holder,
                      const Holder& me, const Event& told, const char* patience) {
  Transaction transaction = TRY(Transaction::begin(database, {}));
  TRY(database.execute(patience));
  TRY(database.take(turn_of(environment)));
  const int64_t token = TRY(next_token(database));
  TRY(TRY(database.query("UPDATE leases SET token=?, process=?, machine=?, what=?, since=?, role=0 "
                         "WHERE environment=? AND process=? AND machine=? AND what=? AND since=?"))
          .bind(token)
          .bind(me.process)
          .bind(me.machine)
          .bind(me.what)
          .bind(count_of(me.since))
          .bind(environment.view())
          .bind(holder.process)
          .bind(holder.machine)
          .bind(holder.what)
          .bind(count_of(holder.since))
          .run());
  if (database.changes() == 0)
    return false;
  TRY(write_event_row(database, told));
  TRY(transaction.commit());
  return true;
}

}  // namespace

Status check_take_sql_right(Database& database, const Name& environment, const Holder& holder) {
  TRY(sessions_of(database, environment, holder));
  return {};
}

/// First the number, so that a holder that comes back writes nothing, and whoever waits for the lock
/// is not taken for it; then its session, and with it the lock.
Status take_sql_right(Database& database, const Name& environment, const Holder& holder,
                      const Holder& me, const Event& told) {
  const std::vector<DatabaseSession> sessions = TRY(sessions_of(database, environment, holder));
  Result<bool> taken =
      overtake(database, environment, holder, me, told, "SET LOCAL lock_timeout='2s'");
  if (taken && !*taken)
    return not_taken(environment, holder);
  for (const DatabaseSession& session : sessions)
    TRY(database.end_session(session));
  // A holder that stands still within a transaction keeps the row until its session ends.
  if (!taken)
    taken = overtake(database, environment, holder, me, told, "SET LOCAL lock_timeout='20s'");
  TRY(std::move(taken));
  return {};
}

Status sql_wish(Database& database, const Name& environment,
                const std::function<Status(Wish&)>& say) {
  Transaction transaction = TRY(Transaction::begin(database, {turn_of(environment)}));
  Query query = TRY(database.query("SELECT removing FROM environments WHERE name=?"));
  query.bind(environment.view());
  const bool is_removing = TRY(query.step()) && query.number(0) != 0;
  if (is_removing) {
    if (const std::optional<Holder> remover = TRY(sql_holder(database, environment)))
      return world_error(cat("`", environment, "` is being removed by ", to_string(*remover)));
    // The removal was abandoned, and somebody wants the environment again.
    TRY(TRY(database.query("UPDATE environments SET removing=0 WHERE name=?"))
            .bind(environment.view())
            .run());
  }
  SqlWish wish(database, environment);
  TRY(say(wish));
  TRY(transaction.commit());
  wish.keep();
  return {};
}

}  // namespace fettle
