#include "store/sqlite_versions.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "store/content_codec.h"
#include "value/codec.h"

namespace fettle {

/// `world` is the hash of the environment's name. `since` is the first version with the content,
/// `until` the first one without it.
const char* const version_tables = R"(
CREATE TABLE versions(world INTEGER NOT NULL, number INTEGER NOT NULL, created INTEGER NOT NULL,
  released INTEGER NOT NULL, detail BLOB NOT NULL, PRIMARY KEY(world, number)) WITHOUT ROWID, STRICT;
CREATE TABLE contents(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT;
CREATE TABLE pieces(id INTEGER PRIMARY KEY, world INTEGER NOT NULL, set_name TEXT NOT NULL, name TEXT NOT NULL,
  UNIQUE(world, set_name, name)) STRICT;
CREATE TABLE spans(piece INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, world INTEGER NOT NULL,
  content INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY(piece, since)) WITHOUT ROWID, STRICT;
CREATE INDEX spans_since ON spans(world, since);
CREATE INDEX spans_until ON spans(world, until) WHERE until<9223372036854775807;
CREATE INDEX spans_content ON spans(content);
CREATE TABLE holdings(world INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, piece INTEGER NOT NULL,
  PRIMARY KEY(world, key, value, piece)) WITHOUT ROWID, STRICT;
)";

namespace {

using Go = Snapshot::Go;

int64_t world_of(const Name& environment) {
  return static_cast<int64_t>(hash64(environment.view()));
}
int64_t count_of(Time time) { return time.time_since_epoch().count(); }
Time time_of(int64_t count) { return Time(Duration(count)); }

/// A digest as the 16 bytes of the tables.
struct DigestBytes {
  explicit DigestBytes(Digest digest) : words{digest.high, digest.low} {}
  uint64_t words[2];
  std::string_view view() const { return {reinterpret_cast<const char*>(words), sizeof words}; }
};
Digest digest_of(std::string_view bytes) {
  Digest digest;
  if (bytes.size() == sizeof(uint64_t) * 2) {
    std::memcpy(&digest.high, bytes.data(), sizeof(uint64_t));
    std::memcpy(&digest.low, bytes.data() + sizeof(uint64_t), sizeof(uint64_t));
  }
  return digest;
}

/// A number that is ordered as the bytes of the word in memory are.
uint64_t first_byte_first(uint64_t word) {
  if constexpr (std::endian::native == std::endian::little)
    return __builtin_bswap64(word);
  return word;
}

Result<Value> read_detail(std::string_view bytes) {
  Reader reader(bytes);
  Value value = reader.value();
  if (reader.broken() || !reader.at_end())
    return Error(Blame::bug, "the detail of a version is damaged");
  return value;
}

class SqliteSnapshot : public Snapshot {
 public:
  SqliteSnapshot(Sqlite& database, int64_t world, uint64_t number, bool is_newest, Value detail)
      : database_(database),
        world_(world),
        number_(static_cast<int64_t>(number)),
        is_newest_(is_newest),
        detail_(std::move(detail)) {}

  uint64_t number() const override { return static_cast<uint64_t>(number_); }
  const Value& detail() const override { return detail_; }

  Result<ContentPointer> content(const Piece& piece) const override {
    Query query = TRY(database_.query(
        "SELECT contents.body, contents.digest FROM pieces JOIN spans ON spans.piece=pieces.id "
        "JOIN "
        "contents ON contents.id=spans.content WHERE pieces.world=? AND pieces.set_name=? AND "
        "pieces.name=? AND since<=?4 AND until>?4"));
    query.bind(world_).bind(piece.set.view()).bind(piece.name.view()).bind(number_);
    if (!TRY(query.step()))
      return ContentPointer();
    return decode_content(query.blob(0), digest_of(query.blob(1)));
  }

  Result<std::optional<Digest>> digest(const Piece& piece) const override {
    Query query =
        TRY(database_.query("SELECT spans.digest FROM pieces JOIN spans ON spans.piece=pieces.id "
                            "WHERE pieces.world=? AND "
                            "pieces.set_name=? AND pieces.name=? AND since<=?4 AND until>?4"));
    query.bind(world_).bind(piece.set.view()).bind(piece.name.view()).bind(number_);
    if (!TRY(query.step()))
      return std::optional<Digest>();
    return std::optional(digest_of(query.blob(0)));
  }

  Status holders(Digest key, const std::function<Go(Digest, const Piece&)>& visit) const override {
    if (!is_newest_)
      return Error(Blame::bug, "only the newest version tells who holds what");
    std::string after;  // a value; what follows it is looked at next
    while (true) {
      Query query =
          TRY(database_.query("SELECT value, pieces.set_name, pieces.name FROM holdings JOIN "
                              "pieces ON pieces.id=piece WHERE "
                              "holdings.world=? AND key=? AND value>? ORDER BY value, piece"));
      query.bind(world_).bind_blob(DigestBytes(key).view()).bind_blob(after);
      Go go = Go::on;
      while (go == Go::on && TRY(query.step())) {
        after = query.blob(0);
        go = visit(digest_of(after), {query.text(1), query.text(2)});
      }
      if (go != Go::next_value)
        return {};
    }
  }

  Result<std::vector<Piece>> touched_since(uint64_t number) const override {
    return touched(database_, world_, static_cast<int64_t>(number), number_);
  }

  Result<std::vector<std::pair<Piece, Digest>>> pieces() const override {
    Query query = TRY(database_.query(
        "SELECT pieces.set_name, pieces.name, spans.digest FROM pieces JOIN spans ON "
        "spans.piece=pieces.id "
        "WHERE pieces.world=? AND since<=?2 AND until>?2 ORDER BY pieces.set_name, pieces.name"));
    query.bind(world_).bind(number_);
    std::vector<std::pair<Piece, Digest>> found;
    while (TRY(query.step()))
      found.emplace_back(Piece{query.text(0), query.text(1)}, digest_of(query.blob(2)));
    return found;
  }

  static Result<std::vector<Piece>> touched(Sqlite& database, int64_t world, int64_t older,
                                            int64_t newer) {
    Query query = TRY(database.query(
        "SELECT pieces.set_name, pieces.name FROM pieces WHERE id IN (SELECT piece FROM spans "
        "WHERE "
        "world=?1 AND since>?2 AND since<=?3 UNION SELECT piece FROM spans WHERE world=?1 AND "
        "until>?2 AND until<=?3 AND until<9223372036854775807) ORDER BY pieces.set_name, "
        "pieces.name"));
    query.bind(world).bind(older).bind(newer);
    std::vector<Piece> found;
    while (TRY(query.step()))
      found.push_back({query.text(0), query.text(1)});
    return found;
  }

 private:
  Sqlite& database_;
  int64_t world_;
  int64_t number_;
  bool is_newest_;
  Value detail_;
};

/// A row of the identity index.
struct Row {
  Holding holding;
  int64_t piece;
  auto order() const { return std::tie(holding.key, holding.value, piece); }
};

/// Writes a delta. The rows of the index are gathered and written in their order, which is many
/// times faster for large deltas.
class DeltaWriter {
 public:
  DeltaWriter(Sqlite& database, int64_t world, const Snapshot& before, uint64_t number)
      : database_(database),
        world_(world),
        before_(before),
        number_(static_cast<int64_t>(number)) {}

  Status write(const Delta& delta) {
    for (const auto& [piece, content] : delta.pieces)
      TRY(write_piece(piece, content.get()));
    TRY(write_rows(gone_, true));
    return write_rows(added_, false);
  }

 private:
  Status write_piece(const Piece& piece, const Content* content) {
    const int64_t id = TRY(id_of(piece));
    std::vector<Holding> gone, added;
    if (before_.number() != 0)
      if (const ContentPointer old = TRY(before_.content(piece))) {
        gone = holdings(piece, *old);
        TRY(TRY(database_.query("UPDATE spans SET until=? WHERE piece=? AND until=?"))
                .bind(number_)
                .bind(id)
                .bind(INT64_MAX)
                .run());
      }
    if (content != nullptr) {
      added = holdings(piece, *content);
      TRY(TRY(database_.query("INSERT INTO spans VALUES(?,?,?,?,?,?)"))
              .bind(id)
              .bind(number_)
              .bind(INT64_MAX)
              .bind(world_)
              .bind(TRY(content_id(*content)))
              .bind_blob(DigestBytes(content->digest).view())
              .run());
    }
    add_rows(id, std::move(gone), std::move(added));
    return {};
  }

  void add_rows(int64_t piece, std::vector<Holding> gone, std::vector<Holding> added) {
    const auto less = [](const Holding& a, const Holding& b) {
      return std::tie(a.key, a.value) < std::tie(b.key, b.value);
    };
    std::sort(gone.begin(), gone.end(), less);
    std::sort(added.begin(), added.end(), less);
    std::vector<Holding> only;
    std::set_difference(gone.begin(), gone.end(), added.begin(), added.end(),
                        std::back_inserter(only), less);
    for (const Holding& holding : only)
      gone_.push_back({holding, piece});
    only.clear();
    std::set_difference(added.begin(), added.end(), gone.begin(), gone.end(),
                        std::back_inserter(only), less);
    for (const Holding& holding : only)
      added_.push_back({holding, piece});
  }

  Status write_rows(std::vector<Row>& rows, bool are_gone) {
    if (rows.empty())
      return {};
    // In the order of their bytes in the table.
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      if (a.holding.key.high != b.holding.key.high)
        return first_byte_first(a.holding.key.high) < first_byte_first(b.holding.key.high);
      if (a.holding.key.low != b.holding.key.low)
        return first_byte_first(a.holding.key.low) < first_byte_first(b.holding.key.low);
      return a.order() < b.order();
    });
    Query query = TRY(database_.query(
        are_gone ? "DELETE FROM holdings WHERE world=? AND key=? AND value=? AND piece=?"
                 : "INSERT OR IGNORE INTO holdings VALUES(?,?,?,?)"));
    for (const Row& row : rows) {
      const DigestBytes key(row.holding.key), value(row.holding.value);
      TRY(query.bind(world_)
              .bind_kept(key.view())
              .bind_kept(value.view())
              .bind(row.piece)
              .run_once());
    }
    return {};
  }

  Result<int64_t> id_of(const Piece& piece) {
    Query query =
        TRY(database_.query("SELECT id FROM pieces WHERE world=? AND set_name=? AND name=?"));
    query.bind(world_).bind(piece.set.view()).bind(piece.name.view());
    if (TRY(query.step()))
      return query.number(0);
    Query made = TRY(
        database_.query("INSERT INTO pieces(world, set_name, name) VALUES(?,?,?) RETURNING id"));
    made.bind(world_).bind(piece.set.view()).bind(piece.name.view());
    TRY(made.step());
    return made.number(0);
  }

  Result<int64_t> content_id(const Content& content) {
    const DigestBytes digest(content.digest);
    Query query = TRY(database_.query("SELECT id FROM contents WHERE digest=?"));
    query.bind_blob(digest.view());
    if (TRY(query.step()))
      return query.number(0);
    Query made =
        TRY(database_.query("INSERT INTO contents(digest, body) VALUES(?,?) RETURNING id"));
    made.bind_blob(digest.view()).bind_blob(encode(content));
    TRY(made.step());
    return made.number(0);
  }

  Sqlite& database_;
  int64_t world_;
  const Snapshot& before_;
  int64_t number_;
  std::vector<Row> gone_, added_;
};

class SqliteVersions : public Versions {
 public:
  explicit SqliteVersions(Sqlite& database) : database_(database) {}

  Result<std::vector<VersionHead>> heads(const Name& environment) override {
    Query query = TRY(database_.query(
        "SELECT number, created, released, detail FROM versions WHERE world=? ORDER BY number"));
    query.bind(world_of(environment));
    std::vector<VersionHead> found;
    while (TRY(query.step()))
      found.push_back(TRY(read_head(query)));
    return found;
  }

  Result<std::optional<VersionHead>> head(const Name& environment, uint64_t number) override {
    Query query = TRY(database_.query(
        "SELECT number, created, released, detail FROM versions WHERE world=? AND number=?"));
    query.bind(world_of(environment)).bind(static_cast<int64_t>(number));
    if (!TRY(query.step()))
      return std::optional<VersionHead>();
    return std::optional(TRY(read_head(query)));
  }

  Result<std::unique_ptr<Snapshot>> open(const Name& environment,
                                         std::optional<uint64_t> number) override {
    const uint64_t newest = TRY(newest_number(environment));
    const uint64_t wanted = number.value_or(newest);
    const int64_t world = world_of(environment);
    if (wanted == 0 && !number)
      return std::unique_ptr<Snapshot>(
          std::make_unique<SqliteSnapshot>(database_, world, 0, true, Value::dict({})));
    const std::optional<VersionHead> found = TRY(head(environment, wanted));
    if (!found)
      return user_error(
          cat("there is no version ", wanted, " of `", environment, "`",
              newest == 0 ? "; nothing was exported yet" : cat("; the newest is ", newest)));
    return std::unique_ptr<Snapshot>(std::make_unique<SqliteSnapshot>(
        database_, world, wanted, wanted == newest, found->detail));
  }

  Status commit(const Name& environment, Time now,
                const std::function<Result<Delta>(const Snapshot&)>& decide) override {
    Transaction transaction = TRY(Transaction::begin(database_));
    const std::unique_ptr<Snapshot> newest = TRY(open(environment, std::nullopt));
    const Delta delta = TRY(decide(*newest));
    const int64_t world = world_of(environment);
    TRY(DeltaWriter(database_, world, *newest, delta.number).write(delta));
    Writer detail;
    detail.value(delta.detail);
    TRY(TRY(database_.query("INSERT INTO versions VALUES(?,?,?,0,?)"))
            .bind(world)
            .bind(static_cast<int64_t>(delta.number))
            .bind(count_of(now))
            .bind_blob(detail.take())
            .run());
    return transaction.commit();
  }

  Result<std::vector<Piece>> touched_between(const Name& environment, uint64_t older,
                                             uint64_t newer) override {
    return SqliteSnapshot::touched(database_, world_of(environment), static_cast<int64_t>(older),
                                   static_cast<int64_t>(newer));
  }

  Status release(const Name& environment, uint64_t number, Time now) override {
    Transaction transaction = TRY(Transaction::begin(database_));
    TRY(open(environment, number));
    if (const uint64_t last = TRY(last_released(environment)); last > number)
      return user_error(
          cat("version ", last, " is released already, and it is newer than ", number));
    TRY(TRY(database_.query("UPDATE versions SET released=? WHERE world=? AND number=? AND "
                            "released=0"))
            .bind(count_of(now))
            .bind(world_of(environment))
            .bind(static_cast<int64_t>(number))
            .run());
    return transaction.commit();
  }

  Status forget_old(const Name& environment, size_t keep) override {
    Transaction transaction = TRY(Transaction::begin(database_));
    const int64_t world = world_of(environment);
    Query query = TRY(database_.query(
        "SELECT number FROM versions WHERE world=? ORDER BY number DESC LIMIT 1 OFFSET ?"));
    query.bind(world).bind(static_cast<int64_t>(std::max<size_t>(keep, 1) - 1));
    if (!TRY(query.step()))
      return {};
    int64_t oldest = query.number(0);
    if (const auto last = static_cast<int64_t>(TRY(last_released(environment))); last != 0)
      oldest = std::min(oldest, last);
    std::vector<int64_t> contents;
    {
      Query ended = TRY(database_.query(
          "SELECT content FROM spans WHERE world=? AND until<=? AND until<9223372036854775807"));
      ended.bind(world).bind(oldest);
      while (TRY(ended.step()))
        contents.push_back(ended.number(0));
    }
    for (const char* sql : {"DELETE FROM spans WHERE world=? AND until<=? AND "
                            "until<9223372036854775807",
                            "DELETE FROM versions WHERE world=? AND number<?"})
      TRY(TRY(database_.query(sql)).bind(world).bind(oldest).run());
    for (const int64_t content : contents)
      TRY(TRY(database_.query("DELETE FROM contents WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM "
                              "spans WHERE content=?1)"))
              .bind(content)
              .run());
    return transaction.commit();
  }

 private:
  static Result<VersionHead> read_head(const Query& query) {
    VersionHead head;
    head.number = static_cast<uint64_t>(query.number(0));
    head.created = time_of(query.number(1));
    if (query.number(2) != 0)
      head.released = time_of(query.number(2));
    head.detail = TRY(read_detail(query.blob(3)));
    return head;
  }

  Result<uint64_t> newest_number(const Name& environment) {
    return number_of("SELECT max(number) FROM versions WHERE world=?", environment);
  }
  Result<uint64_t> last_released(const Name& environment) {
    return number_of("SELECT max(number) FROM versions WHERE world=? AND released<>0", environment);
  }
  Result<uint64_t> number_of(const char* sql, const Name& environment) {
    Query query = TRY(database_.query(sql));
    query.bind(world_of(environment));
    TRY(query.step());
    return static_cast<uint64_t>(query.number(0));
  }

  Sqlite& database_;
};

}  // namespace

std::unique_ptr<Versions> make_sqlite_versions(Sqlite& database) {
  return std::make_unique<SqliteVersions>(database);
}

Status remove_versions(Sqlite& database, const Name& environment) {
  const int64_t world = world_of(environment);
  for (const char* sql :
       {"DELETE FROM contents WHERE id IN (SELECT content FROM spans WHERE world=?1) AND NOT "
        "EXISTS (SELECT 1 FROM spans WHERE spans.content=contents.id AND spans.world<>?1)",
        "DELETE FROM spans WHERE world=?", "DELETE FROM pieces WHERE world=?",
        "DELETE FROM holdings WHERE world=?", "DELETE FROM versions WHERE world=?"})
    TRY(TRY(database.query(sql)).bind(world).run());
  return {};
}

}  // namespace fettle
