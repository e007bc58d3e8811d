#include "store/sqlite_store.h"

#include "base/text.h"
#include "store/record_codec.h"
#include "store/sqlite.h"
#include "store/sqlite_versions.h"
#include "value/codec.h"

namespace fettle {
namespace {

/// Each brings the file from one version to the next; the number of the last is the version.
const std::array<const char*, 2> migrations{
    R"(
CREATE TABLE environments(name TEXT PRIMARY KEY, uuid TEXT NOT NULL, created INTEGER NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE records(environment TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY(environment, kind, name)) WITHOUT ROWID, STRICT;
CREATE TABLE events(sequence INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, type INTEGER NOT NULL,
  environment TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, verb INTEGER NOT NULL, text TEXT NOT NULL, detail BLOB NOT NULL) STRICT;
CREATE INDEX events_of ON events(environment, kind, name, sequence);
CREATE TABLE leases(environment TEXT PRIMARY KEY, process INTEGER NOT NULL, started TEXT NOT NULL, boot TEXT NOT NULL,
  what TEXT NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE notes(environment TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(environment, name)) WITHOUT ROWID, STRICT;
)",
    version_tables,
};

int64_t count_of(Time time) { return time.time_since_epoch().count(); }
Time time_of(int64_t count) { return Time(Duration(count)); }

std::string encode_value(const Value& value) {
  Writer writer;
  writer.value(value);
  return writer.take();
}

Result<Value> decode_value(std::string_view bytes) {
  Reader reader(bytes);
  Value value = reader.value();
  if (reader.broken() || !reader.at_end())
    return Error(Blame::bug, "a value of the store is damaged");
  return value;
}

class SqliteStore : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<Sqlite> database)
      : database_(std::move(database)), versions_(make_sqlite_versions(*database_)) {}

  Versions& versions() override { return *versions_; }

  Status migrate() {
    Query version = TRY(database_->query("PRAGMA user_version"));
    TRY(version.step());
    const int64_t found = version.number(0);
    if (found == static_cast<int64_t>(migrations.size()))
      return {};
    if (found > static_cast<int64_t>(migrations.size()))
      return world_error(cat("the store has format ", found,
                             " and this fettle knows formats up to ", migrations.size(),
                             "; use the newer fettle that wrote it"));
    static_cast<void>(version.step());  // ends the read, so that writing can begin
    Transaction transaction = TRY(Transaction::begin(*database_));
    // Another process may have been faster.
    Query again = TRY(database_->query("SELECT user_version FROM pragma_user_version"));
    TRY(again.step());
    for (auto next = static_cast<size_t>(again.number(0)); next < migrations.size(); ++next) {
      TRY(database_->execute(migrations[next]));
      TRY(database_->execute(cat("PRAGMA user_version=", next + 1).c_str()));
    }
    return transaction.commit();
  }

  Result<std::vector<Environment>> environments() override {
    Query query =
        TRY(database_->query("SELECT name, uuid, created, detail FROM environments ORDER BY name"));
    std::vector<Environment> found;
    while (TRY(query.step()))
      found.push_back(TRY(read_environment(query)));
    return found;
  }

  Result<std::optional<Environment>> environment(const Name& name) override {
    Query query =
        TRY(database_->query("SELECT name, uuid, created, detail FROM environments WHERE name=?"));
    query.bind(name.view());
    if (!TRY(query.step()))
      return std::optional<Environment>();
    return std::optional(TRY(read_environment(query)));
  }

  Status put_environment(const Environment& environment) override {
    return TRY(database_->query("INSERT INTO environments VALUES(?,?,?,?) ON CONFLICT(name) DO "
                                "UPDATE SET detail=excluded.detail"))
        .bind(environment.name.view())
        .bind(environment.uuid)
        .bind(count_of(environment.created))
        .bind_blob(encode_value(environment.detail))
        .run();
  }

  Status remove_environment(const Name& name) override {
    Transaction transaction = TRY(Transaction::begin(*database_));
    for (const char* sql :
         {"DELETE FROM environments WHERE name=?", "DELETE FROM records WHERE environment=?",
          "DELETE FROM notes WHERE environment=?"})
      TRY(TRY(database_->query(sql)).bind(name.view()).run());
    TRY(remove_versions(*database_, name));
    return transaction.commit();
  }

  Result<Known> known(const Name& environment) override {
    Query query = TRY(database_->query("SELECT kind, name, body FROM records WHERE environment=?"));
    query.bind(environment.view());
    Known known;
    while (TRY(query.step())) {
      Key key{environment, query.text(0), query.text(1)};
      auto record = std::make_shared<Record>(
          TRY(decode(query.blob(2)).context(cat("reading `", to_string(key), "`"))));
      known.emplace(std::move(key), std::move(record));
    }
    return known;
  }

  Status write(std::span<const Change> changes) override {
    if (changes.empty())
      return {};
    Transaction transaction = TRY(Transaction::begin(*database_));
    for (const Change& change : changes)
      TRY(change.type == Change::record   ? write_record(change)
          : change.type == Change::forget ? forget(change)
                                          : write_event(change.logged));
    return transaction.commit();
  }

  Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                    size_t limit) override {
    Query query = TRY(database_->query(
        "SELECT sequence, time, type, environment, kind, name, verb, text, detail FROM events "
        "WHERE sequence>? AND (?2='' OR environment=?2) ORDER BY sequence LIMIT ?3"));
    query.bind(static_cast<int64_t>(after))
        .bind(environment.view())
        .bind(static_cast<int64_t>(limit));
    return read_events(query);
  }

  Result<std::vector<Event>> events_of(const Key& key, size_t limit) override {
    Query query = TRY(database_->query(
        "SELECT sequence, time, type, environment, kind, name, verb, text, detail FROM events "
        "WHERE environment=? AND kind=? AND name=? ORDER BY sequence DESC LIMIT ?"));
    query.bind(key.environment.view())
        .bind(key.kind.view())
        .bind(key.name.view())
        .bind(static_cast<int64_t>(limit));
    return read_events(query);
  }

  Result<std::optional<Holder>> acquire(const Name& environment, const Holder& me) override {
    Transaction transaction = TRY(Transaction::begin(*database_));
    Query query = TRY(database_->query(
        "SELECT process, started, boot, what, since FROM leases WHERE environment=?"));
    query.bind(environment.view());
    if (TRY(query.step())) {
      Holder holder{query.number(0), std::string(query.text(1)), std::string(query.text(2)),
                    std::string(query.text(3)), time_of(query.number(4))};
      const bool mine = holder.process == me.process &&
                        holder.process_started == me.process_started && holder.boot == me.boot;
      if (!mine && is_alive(holder))
        return std::optional(std::move(holder));
    }
    TRY(TRY(database_->query("INSERT OR REPLACE INTO leases VALUES(?,?,?,?,?,?)"))
            .bind(environment.view())
            .bind(me.process)
            .bind(me.process_started)
            .bind(me.boot)
            .bind(me.what)
            .bind(count_of(me.since))
            .run());
    TRY(transaction.commit());
    return std::optional<Holder>();
  }

  Status release(const Name& environment, const Holder& me) override {
    return TRY(database_->query(
                   "DELETE FROM leases WHERE environment=? AND process=? AND started=? AND boot=?"))
        .bind(environment.view())
        .bind(me.process)
        .bind(me.process_started)
        .bind(me.boot)
        .run();
  }

  Result<std::optional<Value>> note(const Name& environment, std::string_view name) override {
    Query query = TRY(database_->query("SELECT value FROM notes WHERE environment=? AND name=?"));
    query.bind(environment.view()).bind(name);
    if (!TRY(query.step()))
      return std::optional<Value>();
    return std::optional(TRY(decode_value(query.blob(0))));
  }

  Status put_note(const Name& environment, std::string_view name, const Value& value) override {
    if (value.is_null())
      return TRY(database_->query("DELETE FROM notes WHERE environment=? AND name=?"))
          .bind(environment.view())
          .bind(name)
          .run();
    return TRY(database_->query("INSERT OR REPLACE INTO notes VALUES(?,?,?)"))
        .bind(environment.view())
        .bind(name)
        .bind_blob(encode_value(value))
        .run();
  }

 private:
  static Result<Environment> read_environment(const Query& query) {
    return Environment{query.text(0), std::string(query.text(1)), time_of(query.number(2)),
                       TRY(decode_value(query.blob(3)))};
  }

  Status write_record(const Change& change) {
    return TRY(database_->query("INSERT OR REPLACE INTO records VALUES(?,?,?,?)"))
        .bind(change.key.environment.view())
        .bind(change.key.kind.view())
        .bind(change.key.name.view())
        .bind_blob(encode(*change.written))
        .run();
  }

  Status forget(const Change& change) {
    return TRY(database_->query("DELETE FROM records WHERE environment=? AND kind=? AND name=?"))
        .bind(change.key.environment.view())
        .bind(change.key.kind.view())
        .bind(change.key.name.view())
        .run();
  }

  Status write_event(const Event& event) {
    return TRY(database_->query("INSERT INTO events(time, type, environment, kind, name, verb, "
                                "text, detail) VALUES(?,?,?,?,?,?,?,?)"))
        .bind(count_of(event.time))
        .bind(static_cast<int64_t>(event.type))
        .bind(event.environment.view())
        .bind(event.key.kind.view())
        .bind(event.key.name.view())
        .bind(static_cast<int64_t>(event.verb))
        .bind(event.text)
        .bind_blob(encode_value(event.detail))
        .run();
  }

  static Result<std::vector<Event>> read_events(Query& query) {
    std::vector<Event> found;
    while (TRY(query.step())) {
      Event event;
      event.sequence = static_cast<uint64_t>(query.number(0));
      event.time = time_of(query.number(1));
      event.type = static_cast<EventType>(
          std::clamp<int64_t>(query.number(2), 0, static_cast<int64_t>(EventType::skipped)));
      event.environment = query.text(3);
      event.key = {query.text(3), query.text(4), query.text(5)};
      event.verb = static_cast<Verb>(
          std::clamp<int64_t>(query.number(6), 0, static_cast<int64_t>(Verb::blocked)));
      event.text = query.text(7);
      event.detail = TRY(decode_value(query.blob(8)));
      found.push_back(std::move(event));
    }
    return found;
  }

  std::unique_ptr<Sqlite> database_;
  std::unique_ptr<Versions> versions_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path) {
  auto store = std::make_unique<SqliteStore>(TRY(Sqlite::open(path)));
  TRY(store->migrate().context(cat("opening the store `", path, "`")));
  return Result<std::unique_ptr<Store>>(std::move(store));
}

}  // namespace fettle
