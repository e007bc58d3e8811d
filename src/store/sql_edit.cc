#include "store/sql_edit.h"

#include <algorithm>

#include "base/lock_file.h"
#include "base/text.h"
#include "core/environment_name.h"
#include "store/record_codec.h"
#include "store/references.h"
#include "store/sql_versions.h"
#include "store/sqlite_locks.h"
#include "store/sqlite_schema.h"

namespace fettle {
namespace {

Status put_row(Sqlite& database, const Environment& environment) {
  return TRY(database.query("INSERT INTO environments(name, uuid, created, detail, removing) "
                            "VALUES(?,?,?,?,0) ON CONFLICT(name) DO UPDATE SET "
                            "detail=excluded.detail, removing=0"))
      .bind(environment.name.view())
      .bind(environment.uuid)
      .bind(count_of(environment.created))
      .bind_blob(bytes_of(environment.detail, database))
      .run();
}

Status put_note_row(Sqlite& database, const Name& environment, std::string_view name,
                    const Value& value) {
  if (value.is_null())
    return TRY(database.query("DELETE FROM notes WHERE environment=? AND name=?"))
        .bind(environment.view())
        .bind(name)
        .run();
  return TRY(database.query("INSERT OR REPLACE INTO notes VALUES(?,?,?)"))
      .bind(environment.view())
      .bind(name)
      .bind_blob(bytes_of(value, database))
      .run();
}

Result<std::optional<Holder>> holder_in(Sqlite& database, const Name& environment) {
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

class SqlEdit : public Edit {
 public:
  SqlEdit(Sqlite& database, Name environment, std::optional<LockFile> lock, int64_t token)
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
    if (lock_ && is_removed_)
      std::move(*lock_).remove();
  }

  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return static_cast<uint64_t>(token_); }

  Status write(std::span<const Change> changes) override {
    if (changes.empty())
      return {};
    return transaction([&]() -> Status {
      for (const Change& change : changes)
        TRY(write(change));
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
    const std::optional<LockFile> no_push =
        TRY(wait_for_lock(database_, push_lock_name(environment_)));
    TRY(remove_versions(database_, environment_));
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
        return write_event(change.logged);
      case Change::moved:
        return {};
    }
    return {};
  }

  /// Runs a transaction, which is refused if somebody else has the right by now.
  Status transaction(const std::function<Status()>& write) {
    Transaction transaction = TRY(Transaction::begin(database_));
    TRY(check_right());
    TRY(write());
    return transaction.commit();
  }

  Status check_right() {
    Query query = TRY(database_.query("SELECT token FROM leases WHERE environment=?"));
    query.bind(environment_.view());
    if (TRY(query.step()) && query.number(0) == token_)
      return {};
    const std::optional<Holder> other = TRY(holder_in(database_, environment_));
    return world_error(cat("the lock on `", environment_, "` was lost",
                           other ? cat(" to ", to_string(*other)) : std::string(),
                           "; nothing more was recorded"));
  }

  Status write_record(const Change& change) {
    const Key& key = change.key;
    const std::string body = encode(*change.written, database_.sealing());
    TRY(TRY(query_of(key, "INSERT OR REPLACE INTO records VALUES(?,?,?,?)")).bind_kept(body).run());
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
    TRY(forget_uses(key));
    refers_ = true;
    for (const std::string& digest : digests) {
      TRY(TRY(database_.query("INSERT OR IGNORE INTO record_uses VALUES(?,?,?,?)"))
              .bind(digest)
              .bind(key.environment.view())
              .bind(key.kind.view())
              .bind(key.name.view())
              .run());
      TRY(TRY(database_.query("UPDATE blobs SET session='' WHERE digest=?")).bind(digest).run());
    }
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

  Status write_event(const Event& event) {
    return TRY(database_.query("INSERT INTO events(time, type, environment, kind, name, verb, "
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
        .bind_blob(bytes_of(event.detail, database_))
        .run();
  }

  /// Moves all at once, because one may take the key that another one gives up.
  Status move_events(std::span<const Change> changes) {
    TRY(database_.execute(
        "CREATE TEMP TABLE IF NOT EXISTS moved(kind TEXT, before TEXT, after TEXT, "
        "PRIMARY KEY(kind, before)) WITHOUT ROWID; DELETE FROM temp.moved"));
    for (const Change& change : changes)
      if (change.type == Change::moved)
        TRY(TRY(database_.query("INSERT INTO temp.moved VALUES(?,?,?)"))
                .bind(change.key.kind.view())
                .bind(change.key.name.view())
                .bind(change.logged.key.name.view())
                .run());
    for (const char* sql : {"UPDATE events SET name=moved.after FROM temp.moved WHERE "
                            "events.environment=? AND events.kind=moved.kind AND "
                            "events.name=moved.before",
                            "UPDATE events SET because_name=moved.after FROM temp.moved WHERE "
                            "events.environment=? AND because_kind=moved.kind AND "
                            "because_name=moved.before"})
      TRY(TRY(database_.query(sql)).bind(environment_.view()).run());
    return {};
  }

  Sqlite& database_;
  Name environment_;
  std::optional<LockFile> lock_;
  int64_t token_;
  bool is_removed_ = false;
  std::optional<bool> refers_;  ///< none: not asked yet
};

class SqlWish : public Wish {
 public:
  SqlWish(Sqlite& database, Name environment)
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
  Sqlite& database_;
  Name environment_;
  std::vector<StagedVersion*> added_;
};

}  // namespace

Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_sql_edit(Sqlite& database,
                                                                   const Name& environment,
                                                                   const Holder& me) {
  std::optional<LockFile> lock;
  if (database.is_in_memory()) {
    if (std::optional<Holder> other = TRY(holder_in(database, environment)))
      return *std::move(other);
  } else {
    lock = TRY(LockFile::take(lock_path(database, edit_lock_name(environment))));
    if (!lock)
      return TRY(holder_in(database, environment)).value_or(Holder{0, {}, "another process", {}});
  }
  Transaction transaction = TRY(Transaction::begin(database));
  TRY(
      database.execute("INSERT INTO counters VALUES('leases',1) ON CONFLICT(name) DO UPDATE SET "
                       "value=value+1"));
  Query counted = TRY(database.query("SELECT value FROM counters WHERE name='leases'"));
  TRY(counted.step());
  const int64_t token = counted.number(0);
  TRY(TRY(database.query("INSERT OR REPLACE INTO leases VALUES(?,?,?,?,?,?,?)"))
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

Result<std::optional<Holder>> sql_holder(Sqlite& database, const Name& environment) {
  if (!database.is_in_memory() &&
      !TRY(LockFile::is_taken(lock_path(database, edit_lock_name(environment)))))
    return std::optional<Holder>();
  return holder_in(database, environment);
}

Status sql_wish(Sqlite& database, const Name& environment,
                const std::function<Status(Wish&)>& say) {
  Transaction transaction = TRY(Transaction::begin(database));
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
