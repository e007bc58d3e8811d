#include "store/sql_store.h"

#include "base/text.h"
#include "store/columns.h"
#include "store/record_codec.h"
#include "store/sql_edit.h"
#include "store/sql_versions.h"

namespace fettle {
namespace {

/// Where several write at once, a transaction with smaller numbers may still be open: whoever reads
/// on from the largest number that he has seen would never see them.
constexpr const char* settled_events =
    "SELECT sequence, time, type, environment, kind, name, verb, because_kind, because_name, text, "
    "detail FROM events WHERE sequence>? AND ?2='' AND written_by<pg_snapshot_xmin("
    "pg_current_snapshot()) ORDER BY sequence LIMIT ?3";

class SqlStore : public Store {
 public:
  explicit SqlStore(std::unique_ptr<Database> database)
      : database_(std::move(database)), versions_(make_sql_versions(*database_)) {}

  Versions& versions() override { return *versions_; }

  Result<std::vector<Environment>> environments() override {
    Query query = TRY(database_->query(
        "SELECT name, uuid, created, detail, removing FROM environments ORDER BY name"));
    std::vector<Environment> found;
    while (TRY(query.step()))
      found.push_back(TRY(read_environment(query)));
    return found;
  }

  Result<std::optional<Environment>> environment(const Name& name) override {
    Query query = TRY(database_->query(
        "SELECT name, uuid, created, detail, removing FROM environments WHERE name=?"));
    query.bind(name.view());
    if (!TRY(query.step()))
      return std::optional<Environment>();
    return std::optional(TRY(read_environment(query)));
  }

  Result<Known> known(const Name& environment) override {
    Known known = TRY(read_known(environment));
    // The pages of many records will not be read again soon.
    if (known.size() > 10'000)
      TRY(database_->shrink());
    return known;
  }

  Result<Known> read_known(const Name& environment) {
    Query query = TRY(database_->query("SELECT kind, name, body FROM records WHERE environment=?"));
    query.bind(environment.view());
    Known known;
    while (TRY(query.step())) {
      Key key{environment, query.text(0), query.text(1)};
      auto record = std::make_shared<Record>(TRY(
          decode(query.blob(2), database_->seal()).context(cat("reading `", to_string(key), "`"))));
      known.emplace(std::move(key), std::move(record));
    }
    return known;
  }

  Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                    size_t limit) override {
    Query query = TRY(database_->query(
        environment.empty() && database_->dialect() == Database::Dialect::postgres
            ? settled_events
            : "SELECT sequence, time, type, environment, kind, name, verb, because_kind, "
              "because_name, text, detail FROM events WHERE sequence>? AND (?2='' OR "
              "environment=?2) ORDER BY sequence LIMIT ?3"));
    query.bind(static_cast<int64_t>(after))
        .bind(environment.view())
        .bind(static_cast<int64_t>(limit));
    return read_events(query);
  }

  Result<std::vector<Event>> events_of(const Key& key, size_t limit) override {
    Query query = TRY(database_->query(
        "SELECT sequence, time, type, environment, kind, name, verb, because_kind, because_name, "
        "text, detail FROM events "
        "WHERE environment=? AND kind=? AND name=? ORDER BY sequence DESC LIMIT ?"));
    query.bind(key.environment.view())
        .bind(key.kind.view())
        .bind(key.name.view())
        .bind(static_cast<int64_t>(limit));
    return read_events(query);
  }

  Result<std::vector<Key>> keys_of_events(const Name& environment) override {
    // Goes from one key to the next by the index, however many events each key has.
    std::vector<Key> found;
    Key last{environment, Name(), Name()};
    while (true) {
      Query next = TRY(database_->query(
          "SELECT kind, name FROM events WHERE environment=?1 AND (kind, name)>(?2, ?3) ORDER BY "
          "kind, name LIMIT 1"));
      next.bind(environment.view()).bind(last.kind.view()).bind(last.name.view());
      if (!TRY(next.step()))
        return found;
      last = {environment, next.text(0), next.text(1)};
      found.push_back(last);
    }
  }

  Result<std::vector<Event>> events_below(const Key& key, size_t limit) override {
    // All names with this prefix, by the index: up to the next string without it.
    const std::string end = cat(key.name, "\xff");
    Query query = TRY(database_->query(
        "SELECT sequence, time, type, environment, kind, name, verb, because_kind, because_name, "
        "text, detail FROM events "
        "WHERE environment=? AND kind=? AND name>=? AND name<? ORDER BY sequence DESC LIMIT ?"));
    query.bind(key.environment.view())
        .bind(key.kind.view())
        .bind(key.name.view())
        .bind(std::string_view(end))
        .bind(static_cast<int64_t>(limit));
    return read_events(query);
  }

  Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_edit(const Name& environment,
                                                                 const Holder& me) override {
    return begin_sql_edit(*database_, environment, me);
  }
  Result<std::optional<Holder>> holder(const Name& environment) override {
    return sql_holder(*database_, environment);
  }
  Status check_take_away(const Name& environment, const Holder& holder) override {
    return check_take_sql_right(*database_, environment, holder);
  }
  Status take_away(const Name& environment, const Holder& holder, const Holder& me,
                   const Event& told) override {
    return take_sql_right(*database_, environment, holder, me, told);
  }
  Status wish(const Name& environment, const std::function<Status(Wish&)>& say) override {
    return sql_wish(*database_, environment, say);
  }

  Result<std::optional<Value>> note(const Name& environment, std::string_view name) override {
    Query query = TRY(database_->query("SELECT value FROM notes WHERE environment=? AND name=?"));
    query.bind(environment.view()).bind(name);
    if (!TRY(query.step()))
      return std::optional<Value>();
    return std::optional(TRY(value_of(query.blob(0), *database_)));
  }

  Result<int64_t> stamp() override { return database_->stamp(); }
  bool watch(const std::function<void()>& tell, std::stop_token stop) override {
    return database_->watch(tell, std::move(stop));
  }

  Result<std::optional<Value>> cached(std::string_view name) override {
    Query query = TRY(database_->query("SELECT value FROM cache WHERE name=?"));
    query.bind(name);
    if (!TRY(query.step()))
      return std::optional<Value>();
    return std::optional(TRY(value_of(query.blob(0), *database_)));
  }

  Status cache(std::string_view name, const Value& value, Time now) override {
    Transaction transaction = TRY(Transaction::begin(*database_, {}));
    TRY(TRY(database_->query("INSERT INTO cache VALUES(?,?,?) ON CONFLICT(name) DO UPDATE SET "
                             "value=excluded.value, written=excluded.written"))
            .bind(name)
            .bind_blob(bytes_of(value, *database_))
            .bind(count_of(now))
            .run());
    return transaction.commit();
  }

  Result<size_t> forget_before(Time before) override {
    int64_t forgotten = 0, next = 0;
    constexpr int64_t events_at_once = 500;
    Query last = TRY(database_->query("SELECT max(sequence) FROM events WHERE time<?"));
    last.bind(count_of(before));
    TRY(last.step());
    const int64_t end = last.number(0);
    static_cast<void>(last.step());
    TRY(in_pieces(*database_, std::nullopt, [&]() -> Result<bool> {
      // `why` needs the last events of each known thing, from the start of its last act on.
      TRY(TRY(database_->query(
                  "DELETE FROM events AS e WHERE sequence>?1 AND sequence<=?2 AND time<?3 AND NOT "
                  "(EXISTS (SELECT 1 FROM records r WHERE r.environment=e.environment AND "
                  "r.kind=e.kind AND r.name=e.name) AND e.sequence>=coalesce((SELECT "
                  "max(b.sequence) FROM events b WHERE b.environment=e.environment AND "
                  "b.kind=e.kind AND b.name=e.name AND b.type=?4), 0))"))
              .bind(next)
              .bind(next + events_at_once)
              .bind(count_of(before))
              .bind(static_cast<int64_t>(EventType::started))
              .run());
      forgotten += database_->changes();
      next += events_at_once;
      return next < end;
    }));
    TRY(in_pieces(*database_, std::nullopt, [&]() -> Result<bool> {
      TRY(TRY(database_->query("DELETE FROM cache WHERE name IN (SELECT name FROM cache WHERE "
                               "written<? LIMIT 200)"))
              .bind(count_of(before))
              .run());
      return database_->changes() > 0;
    }));
    TRY(in_pieces(*database_, turn_of_versions, [&]() -> Result<bool> {
      TRY(TRY(database_->query("DELETE FROM pieces WHERE id IN (SELECT id FROM pieces WHERE NOT "
                               "EXISTS (SELECT 1 FROM spans WHERE piece=pieces.id) LIMIT 200)"))
              .run());
      return database_->changes() > 0;
    }));
    return static_cast<size_t>(forgotten);
  }

 private:
  Result<Environment> read_environment(const Query& query) const {
    return Environment{query.text(0), std::string(query.text(1)), time_of(query.number(2)),
                       TRY(value_of(query.blob(3), *database_)), query.number(4) != 0};
  }

  Result<std::vector<Event>> read_events(Query& query) const {
    std::vector<Event> found;
    while (TRY(query.step())) {
      Event event;
      event.sequence = static_cast<uint64_t>(query.number(0));
      event.time = time_of(query.number(1));
      event.type = static_cast<EventType>(
          std::clamp<int64_t>(query.number(2), 0, static_cast<int64_t>(EventType::failed_over)));
      event.environment = query.text(3);
      event.key = {query.text(3), query.text(4), query.text(5)};
      event.verb = static_cast<Verb>(
          std::clamp<int64_t>(query.number(6), 0, static_cast<int64_t>(Verb::blocked)));
      if (!query.text(7).empty())
        event.because = {query.text(3), query.text(7), query.text(8)};
      event.text = query.text(9);
      event.detail = TRY(value_of(query.blob(10), *database_));
      found.push_back(std::move(event));
    }
    return found;
  }

  std::unique_ptr<Database> database_;
  std::unique_ptr<Versions> versions_;
};

}  // namespace

std::unique_ptr<Store> make_sql_store(std::unique_ptr<Database> database) {
  return std::make_unique<SqlStore>(std::move(database));
}

}  // namespace fettle
