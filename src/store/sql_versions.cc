#include "store/sql_versions.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "store/columns.h"
#include "store/content_codec.h"
#include "store/references.h"

namespace fettle {

namespace {

using Go = Snapshot::Go;

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

/// A number with the order of the word's bytes in memory.
uint64_t first_byte_first(uint64_t word) {
  if constexpr (std::endian::native == std::endian::little)
    return __builtin_bswap64(word);
  return word;
}

constexpr int64_t open_span = INT64_MAX;
constexpr int64_t holders_at_once = 256;

class SqlSnapshot : public Snapshot {
 public:
  SqlSnapshot(Database& database, int64_t world, uint64_t number, Value detail)
      : database_(database),
        world_(world),
        number_(static_cast<int64_t>(number)),
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
    return decode_content(query.blob(0), digest_of(query.blob(1)), database_.seal());
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
    // By pages: a database on another machine would send all rows at once.
    std::string value;  // the look-up continues after this value and piece
    int64_t piece = 0;
    while (true) {
      Query query = TRY(database_.query(
          "SELECT value, piece, pieces.set_name, pieces.name FROM holdings JOIN pieces ON "
          "pieces.id=piece WHERE holdings.world=? AND key=? AND (value, piece)>(?,?) AND "
          "since<=?5 AND (until=0 OR until>?5) ORDER BY value, piece LIMIT 256"));
      query.bind(world_)
          .bind_blob(DigestBytes(key).view())
          .bind_blob(value)
          .bind(piece)
          .bind(number_);
      Go go = Go::on;
      int64_t rows = 0;
      for (; go == Go::on && TRY(query.step()); ++rows) {
        value = query.blob(0);
        piece = query.number(1);
        go = visit(digest_of(value), {query.text(2), query.text(3)});
      }
      if (go == Go::next_value)
        piece = INT64_MAX;
      else if (go != Go::on || rows < holders_at_once)
        return {};
    }
  }

  Status holders_of(IdentityEntry holding,
                    const std::function<Go(const Piece&)>& visit) const override {
    Query query =
        TRY(database_.query("SELECT pieces.set_name, pieces.name FROM holdings JOIN pieces ON "
                            "pieces.id=piece WHERE holdings.world=? AND key=? AND value=? AND "
                            "since<=?4 AND (until=0 OR until>?4) ORDER BY piece"));
    query.bind(world_)
        .bind_blob(DigestBytes(holding.key).view())
        .bind_blob(DigestBytes(holding.value).view())
        .bind(number_);
    while (TRY(query.step()))
      if (visit({query.text(0), query.text(1)}) != Go::on)
        break;
    return {};
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

  static Result<std::vector<Piece>> touched(Database& database, int64_t world, int64_t older,
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
  Database& database_;
  int64_t world_;
  int64_t number_;
  Value detail_;
};

/// A row of the identity index.
struct Row {
  IdentityEntry holding;
  int64_t piece;
  auto order() const { return std::tie(holding.key, holding.value, piece); }
};

/// Writes a delta bit by bit, under a number that no version has yet: first the spans and contents
/// piece by piece, then the rows of the index in their order, which is many times faster for large
/// deltas.
class DeltaWriter {
 public:
  DeltaWriter(Database& database, int64_t world, const Snapshot& before, const Delta& delta)
      : database_(database),
        world_(world),
        before_(before),
        number_(static_cast<int64_t>(delta.number)),
        delta_(delta) {}

  /// Writes one bit, and returns whether there is more. Call it within a transaction.
  Result<bool> step() {
    if (next_piece_ < delta_.pieces.size()) {
      const auto& [piece, content] = delta_.pieces[next_piece_++];
      TRY(write_piece(piece, content.get()));
      if (next_piece_ == delta_.pieces.size()) {
        in_order_of_table(gone_);
        in_order_of_table(added_);
      }
      return true;
    }
    constexpr size_t rows_at_once = 64;
    for (size_t i = 0; i < rows_at_once && next_row_ < gone_.size() + added_.size(); ++i)
      TRY(write_row(next_row_++));
    return next_row_ < gone_.size() + added_.size();
  }

 private:
  Status write_piece(const Piece& piece, const Content* content) {
    const int64_t id = TRY(id_of(piece));
    std::vector<IdentityEntry> gone, added;
    if (before_.number() != 0)
      if (const ContentPointer old = TRY(before_.content(piece))) {
        gone = holdings(piece, *old);
        TRY(TRY(database_.query("UPDATE spans SET until=? WHERE piece=? AND until=?"))
                .bind(number_)
                .bind(id)
                .bind(open_span)
                .run());
      }
    if (content != nullptr) {
      added = holdings(piece, *content);
      TRY(TRY(database_.query("INSERT INTO spans VALUES(?,?,?,?,?,?)"))
              .bind(id)
              .bind(number_)
              .bind(open_span)
              .bind(world_)
              .bind(TRY(content_id(*content)))
              .bind_blob(DigestBytes(content->digest).view())
              .run());
    }
    add_rows(id, std::move(gone), std::move(added));
    return {};
  }

  void add_rows(int64_t piece, std::vector<IdentityEntry> gone, std::vector<IdentityEntry> added) {
    const auto less = [](const IdentityEntry& a, const IdentityEntry& b) {
      return std::tie(a.key, a.value) < std::tie(b.key, b.value);
    };
    std::sort(gone.begin(), gone.end(), less);
    std::sort(added.begin(), added.end(), less);
    std::vector<IdentityEntry> only;
    std::set_difference(gone.begin(), gone.end(), added.begin(), added.end(),
                        std::back_inserter(only), less);
    for (const IdentityEntry& holding : only)
      gone_.push_back({holding, piece});
    only.clear();
    std::set_difference(added.begin(), added.end(), gone.begin(), gone.end(),
                        std::back_inserter(only), less);
    for (const IdentityEntry& holding : only)
      added_.push_back({holding, piece});
  }

  /// Sorts rows by the order of their bytes in the table.
  static void in_order_of_table(std::vector<Row>& rows) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      if (a.holding.key.high != b.holding.key.high)
        return first_byte_first(a.holding.key.high) < first_byte_first(b.holding.key.high);
      if (a.holding.key.low != b.holding.key.low)
        return first_byte_first(a.holding.key.low) < first_byte_first(b.holding.key.low);
      return a.order() < b.order();
    });
  }

  Status write_row(size_t i) {
    const bool is_gone = i < gone_.size();
    const Row& row = is_gone ? gone_[i] : added_[i - gone_.size()];
    const DigestBytes key(row.holding.key), value(row.holding.value);
    Query query = TRY(database_.query(
        is_gone ? "UPDATE holdings SET until=?5 WHERE world=?1 AND key=?2 AND value=?3 AND "
                  "piece=?4 AND until=0"
                : "INSERT INTO holdings VALUES(?,?,?,?,?,0) ON CONFLICT DO NOTHING"));
    return query.bind(world_)
        .bind_kept(key.view())
        .bind_kept(value.view())
        .bind(row.piece)
        .bind(number_)
        .run();
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
    const std::string body = encode(content, database_.seal());
    if (TRY(query.step())) {
      // The digest ignores origins, and the last push knows where the resource stands today.
      const int64_t id = query.number(0);
      Query told = TRY(database_.query("UPDATE contents SET body=?2 WHERE id=?1 AND body<>?2"));
      TRY(told.bind(id).bind_blob(body).run());
      return id;
    }
    Query made =
        TRY(database_.query("INSERT INTO contents(digest, body) VALUES(?,?) RETURNING id"));
    made.bind_blob(digest.view()).bind_blob(body);
    TRY(made.step());
    return made.number(0);
  }

  Database& database_;
  int64_t world_;
  const Snapshot& before_;
  int64_t number_;
  const Delta& delta_;
  size_t next_piece_ = 0, next_row_ = 0;
  std::vector<Row> gone_, added_;
};

/// Staged data is written under the next number, so whoever has lost the turn must not go on: the
/// next one writes there. Called within a transaction, on the connection that it writes to.
Status check_turn(StoreLock& turn) {
  if (turn.is_held())
    return {};
  return world_error("the turn to push was lost with the connection; run the same command again");
}

/// Takes back staged data that was never added, as if it had never been written.
class Unstager {
 public:
  Unstager(Database& database, StoreLock& turn, int64_t world, int64_t number)
      : database_(database), turn_(turn), world_(world), number_(number) {}

  Status run() {
    TRY(in_pieces(database_, turn_of_versions, [this] { return take_back_added(); }));
    TRY(in_pieces(database_, turn_of_versions, [this] { return reopen_ended(); }));
    return in_pieces(database_, turn_of_versions, [this]() -> Result<bool> {
      TRY(check_turn(turn_));
      TRY(TRY(database_.query("DELETE FROM staging WHERE world=?")).bind(world_).run());
      return false;
    });
  }

 private:
  struct Span {
    int64_t piece, content;
    Piece name;
    ContentPointer body;
  };

  /// A span that starts (or ends) at the number.
  Result<std::optional<Span>> next_span(const char* sql) {
    Query query = TRY(database_.query(sql));
    query.bind(world_).bind(number_);
    if (!TRY(query.step()))
      return std::optional<Span>();
    Span span{query.number(0), query.number(1), {query.text(2), query.text(3)}, nullptr};
    span.body = TRY(decode_content(query.blob(4), digest_of(query.blob(5)), database_.seal()));
    return std::optional(std::move(span));
  }

  /// Runs a statement for each holding of a span, with its world, key, value, piece and number.
  Status for_holdings(const Span& span, const char* sql) {
    for (const IdentityEntry& holding : holdings(span.name, *span.body)) {
      const DigestBytes key(holding.key), value(holding.value);
      TRY(TRY(database_.query(sql))
              .bind(world_)
              .bind_kept(key.view())
              .bind_kept(value.view())
              .bind(span.piece)
              .bind(number_)
              .run());
    }
    return {};
  }

  Result<bool> take_back_added() {
    TRY(check_turn(turn_));
    const std::optional<Span> span = TRY(next_span(
        "SELECT s.piece, s.content, p.set_name, p.name, c.body, c.digest FROM spans s JOIN pieces "
        "p ON p.id=s.piece JOIN contents c ON c.id=s.content WHERE s.world=? AND s.since=? LIMIT "
        "1"));
    if (!span)
      return false;
    TRY(for_holdings(*span,
                     "DELETE FROM holdings WHERE world=? AND key=? AND value=? AND piece=? AND "
                     "since=?"));
    TRY(TRY(database_.query("DELETE FROM spans WHERE piece=? AND since=?"))
            .bind(span->piece)
            .bind(number_)
            .run());
    TRY(TRY(database_.query("DELETE FROM contents WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM spans "
                            "WHERE content=?1)"))
            .bind(span->content)
            .run());
    return true;
  }

  Result<bool> reopen_ended() {
    TRY(check_turn(turn_));
    const std::optional<Span> span = TRY(next_span(
        "SELECT s.piece, s.content, p.set_name, p.name, c.body, c.digest FROM spans s JOIN pieces "
        "p ON p.id=s.piece JOIN contents c ON c.id=s.content WHERE s.world=? AND s.until=? AND "
        "s.until<9223372036854775807 LIMIT 1"));
    if (!span)
      return false;
    TRY(for_holdings(*span,
                     "UPDATE holdings SET until=0 WHERE world=? AND key=? AND value=? "
                     "AND piece=? AND until=?"));
    TRY(TRY(database_.query("UPDATE spans SET until=? WHERE piece=? AND until=?"))
            .bind(open_span)
            .bind(span->piece)
            .bind(number_)
            .run());
    return true;
  }

  Database& database_;
  StoreLock& turn_;
  int64_t world_;
  int64_t number_;
};

class SqlStagedVersion : public StagedVersion {
 public:
  SqlStagedVersion(Database& database, StoreLock& turn, int64_t world, const Snapshot& newest,
                   Delta delta)
      : database_(database),
        turn_(turn),
        world_(world),
        newest_(newest),
        delta_(std::move(delta)) {}
  ~SqlStagedVersion() override {
    // If it cannot be taken back now, the next push takes it back.
    if (is_written_ && !is_added_)
      static_cast<void>(
          Unstager(database_, turn_, world_, static_cast<int64_t>(delta_.number)).run());
  }

  /// Writes a large delta ahead. A small one is written when it is added.
  Status write_ahead() {
    if (delta_.pieces.size() <= pieces_at_once)
      return {};
    is_written_ = true;
    TRY(in_pieces(database_, turn_of_versions, [this]() -> Result<bool> {
      TRY(check_turn(turn_));
      TRY(TRY(database_.query("INSERT INTO staging VALUES(?,?) ON CONFLICT(world) DO UPDATE SET "
                              "number=excluded.number"))
              .bind(world_)
              .bind(static_cast<int64_t>(delta_.number))
              .run());
      return false;
    }));
    DeltaWriter writer(database_, world_, newest_, delta_);
    return in_pieces(database_, turn_of_versions, [&]() -> Result<bool> {
      TRY(check_turn(turn_));
      return writer.step();
    });
  }

  /// Adds the version. Call it within the transaction of a wish.
  Status add(Time now) {
    TRY(database_.take(turn_of_versions));
    TRY(check_turn(turn_));
    TRY(check_newest());
    if (!is_written_) {
      DeltaWriter writer(database_, world_, newest_, delta_);
      while (TRY(writer.step()))
        continue;
    }
    const auto number = static_cast<int64_t>(delta_.number);
    TRY(TRY(database_.query("INSERT INTO versions VALUES(?,?,?,0,?)"))
            .bind(world_)
            .bind(number)
            .bind(count_of(now))
            .bind_blob(bytes_of(delta_.detail, database_))
            .run());
    const std::vector<std::string> digests = digests_in(delta_.detail);
    if (!digests.empty())
      TRY(database_.take(turn_of_users));
    for (const std::string& digest : digests)
      TRY(TRY(database_.query("INSERT INTO version_uses VALUES(?,?,?) ON CONFLICT DO NOTHING"))
              .bind(digest)
              .bind(world_)
              .bind(number)
              .run());
    return TRY(database_.query("DELETE FROM staging WHERE world=?")).bind(world_).run();
  }
  void added() { is_added_ = true; }

 private:
  /// Smaller deltas are written in the transaction that adds them.
  static constexpr size_t pieces_at_once = 200;

  Status check_newest() const {
    Query query = TRY(database_.query("SELECT max(number) FROM versions WHERE world=?"));
    query.bind(world_);
    TRY(query.step());
    if (static_cast<uint64_t>(query.number(0)) == newest_.number())
      return {};
    return world_error("another version was added in the meantime; run the same command again");
  }

  Database& database_;
  StoreLock& turn_;
  int64_t world_;
  const Snapshot& newest_;
  Delta delta_;
  bool is_written_ = false, is_added_ = false;
};

class SqlPushTurn : public PushTurn {
 public:
  SqlPushTurn(Database& database, int64_t world, std::unique_ptr<StoreLock> lock,
              std::unique_ptr<Snapshot> newest)
      : database_(database), world_(world), lock_(std::move(lock)), newest_(std::move(newest)) {}

  const Snapshot& newest() const override { return *newest_; }

  Result<std::unique_ptr<StagedVersion>> stage(Delta delta) override {
    auto staged =
        std::make_unique<SqlStagedVersion>(database_, *lock_, world_, *newest_, std::move(delta));
    TRY(staged->write_ahead());
    return Result<std::unique_ptr<StagedVersion>>(std::move(staged));
  }

  Status forget_old(size_t keep) override {
    Query query = TRY(database_.query(
        "SELECT number FROM versions WHERE world=? ORDER BY number DESC LIMIT 1 OFFSET ?"));
    query.bind(world_).bind(static_cast<int64_t>(std::max<size_t>(keep, 1) - 1));
    if (!TRY(query.step()))
      return {};
    int64_t oldest = query.number(0);
    Query released =
        TRY(database_.query("SELECT number FROM versions WHERE world=? AND released<>0 ORDER BY "
                            "released DESC, number DESC LIMIT 1"));
    released.bind(world_);
    if (TRY(released.step()))
      oldest = std::min(oldest, released.number(0));
    static_cast<void>(released.step());
    static_cast<void>(query.step());
    TRY(forget_before(oldest));
    return {};
  }

 private:
  /// The heads go first, so that no version is read of which half is gone.
  Status forget_before(int64_t oldest) {
    TRY(in_pieces(database_, turn_of_versions, [&]() -> Result<bool> {
      for (const char* sql : {"DELETE FROM versions WHERE world=? AND number<?",
                              "DELETE FROM version_uses WHERE world=? AND number<?"})
        TRY(TRY(database_.query(sql)).bind(world_).bind(oldest).run());
      return false;
    }));
    TRY(in_pieces(database_, turn_of_versions, [&]() -> Result<bool> {
      Query ended =
          TRY(database_.query("SELECT piece, since, content FROM spans WHERE world=? AND "
                              "until<=? AND until<9223372036854775807 LIMIT 1"));
      ended.bind(world_).bind(oldest);
      if (!TRY(ended.step()))
        return false;
      TRY(TRY(database_.query("DELETE FROM spans WHERE piece=? AND since=?"))
              .bind(ended.number(0))
              .bind(ended.number(1))
              .run());
      TRY(TRY(database_.query("DELETE FROM contents WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM "
                              "spans WHERE content=?1)"))
              .bind(ended.number(2))
              .run());
      return true;
    }));
    return in_pieces(database_, turn_of_versions, [&]() -> Result<bool> {
      TRY(TRY(database_.query(
                  "DELETE FROM holdings WHERE (world, key, value, piece, since) IN (SELECT world, "
                  "key, value, piece, since FROM holdings WHERE world=? AND until>0 AND until<=? "
                  "LIMIT 64)"))
              .bind(world_)
              .bind(oldest)
              .run());
      return database_.changes() > 0;
    });
  }

  Database& database_;
  int64_t world_;
  std::unique_ptr<StoreLock> lock_;
  std::unique_ptr<Snapshot> newest_;
};

class SqlVersions : public Versions {
 public:
  explicit SqlVersions(Database& database) : database_(database) {}

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
    const int64_t world = world_of(environment);
    uint64_t newest = 0, wanted = 0;
    std::optional<VersionHead> found;
    do {
      newest = TRY(newest_number(environment));
      wanted = number.value_or(newest);
      if (wanted == 0 && !number)
        return std::unique_ptr<Snapshot>(
            std::make_unique<SqlSnapshot>(database_, world, 0, Value::dict({})));
      found = TRY(head(environment, wanted));
    } while (!found && !number);  // removed since it was found
    if (!found)
      return user_error(
          cat("there is no version ", wanted, " of `", environment, "`",
              newest == 0 ? "; nothing has been exported yet" : cat("; the newest is ", newest)));
    return std::unique_ptr<Snapshot>(
        std::make_unique<SqlSnapshot>(database_, world, wanted, found->detail));
  }

  Result<std::unique_ptr<PushTurn>> begin_push(const Name& environment) override {
    const int64_t world = world_of(environment);
    std::unique_ptr<StoreLock> lock = TRY(database_.take_lock(push_lock_name(environment)));
    if (lock == nullptr)
      return std::unique_ptr<PushTurn>();
    TRY(take_back_staged(*lock, world));
    return std::unique_ptr<PushTurn>(std::make_unique<SqlPushTurn>(
        database_, world, std::move(lock), TRY(open(environment, std::nullopt))));
  }

  Result<std::vector<Piece>> touched_between(const Name& environment, uint64_t older,
                                             uint64_t newer) override {
    return SqlSnapshot::touched(database_, world_of(environment), static_cast<int64_t>(older),
                                static_cast<int64_t>(newer));
  }

 private:
  /// Takes back the staged data of a push whose process was killed.
  Status take_back_staged(StoreLock& turn, int64_t world) {
    Query query = TRY(database_.query("SELECT number FROM staging WHERE world=?"));
    query.bind(world);
    if (!TRY(query.step()))
      return {};
    const int64_t number = query.number(0);
    static_cast<void>(query.step());
    return Unstager(database_, turn, world, number).run();
  }

  Result<VersionHead> read_head(const Query& query) const {
    VersionHead head;
    head.number = static_cast<uint64_t>(query.number(0));
    head.created = time_of(query.number(1));
    if (query.number(2) != 0)
      head.released = time_of(query.number(2));
    head.detail = TRY(value_of(query.blob(3), database_));
    return head;
  }

  Result<uint64_t> newest_number(const Name& environment) {
    Query query = TRY(database_.query("SELECT max(number) FROM versions WHERE world=?"));
    query.bind(world_of(environment));
    TRY(query.step());
    return static_cast<uint64_t>(query.number(0));
  }

  Database& database_;
};

}  // namespace

std::unique_ptr<Versions> make_sql_versions(Database& database) {
  return std::make_unique<SqlVersions>(database);
}

Status add_version(StagedVersion& staged, Time now) {
  return static_cast<SqlStagedVersion&>(staged).add(now);
}

void keep_version(StagedVersion& staged) { static_cast<SqlStagedVersion&>(staged).added(); }

Status release_version_row(Database& database, const Name& environment, uint64_t number, Time now) {
  const int64_t world = world_of(environment);
  Query query = TRY(database.query(
      "SELECT (SELECT count(*) FROM versions WHERE world=?1 AND number=?2), (SELECT max(number) "
      "FROM versions WHERE world=?1 AND released<>0), (SELECT max(number) FROM versions WHERE "
      "world=?1), (SELECT released FROM versions WHERE world=?1 AND number=?2), (SELECT "
      "max(released) FROM versions WHERE world=?1 AND number<>?2)"));
  query.bind(world).bind(static_cast<int64_t>(number));
  TRY(query.step());
  const auto last = static_cast<uint64_t>(query.number(1));
  const int64_t own = query.number(3), of_others = query.number(4);
  if (query.number(0) == 0)
    return user_error(cat("there is no version ", number, " of `", environment, "`",
                          query.number(2) == 0 ? std::string("; nothing has been exported yet")
                                               : cat("; the newest is ", query.number(2))));
  if (own > of_others || (own != 0 && own == of_others && last == number))
    return {};
  if (last > number && own == 0)
    return user_error(cat("version ", last, " is already released and newer than ", number));
  static_cast<void>(query.step());  // ends the read
  return TRY(database.query("UPDATE versions SET released=? WHERE world=? AND number=?"))
      .bind(std::max(count_of(now), of_others + 1))
      .bind(world)
      .bind(static_cast<int64_t>(number))
      .run();
}

Status remove_versions(Database& database, const Name& environment,
                       const std::function<Status()>& check) {
  const int64_t world = world_of(environment);
  const auto removed = [&](const std::function<Result<bool>()>& step) {
    return in_pieces(database, turn_of_versions, step, check);
  };
  // The heads go first: a version without a head does not exist. One row at a time, in as many
  // pieces as necessary.
  for (const char* sql :
       {"DELETE FROM versions WHERE world=?", "DELETE FROM version_uses WHERE world=?",
        "DELETE FROM staging WHERE world=?"})
    TRY(removed([&]() -> Result<bool> {
      TRY(TRY(database.query(sql)).bind(world).run());
      return false;
    }));
  TRY(removed([&]() -> Result<bool> {
    Query query =
        TRY(database.query("SELECT s.piece, s.since, s.content FROM spans s WHERE "
                           "s.world=? LIMIT 1"));
    query.bind(world);
    if (!TRY(query.step()))
      return false;
    TRY(TRY(database.query("DELETE FROM spans WHERE piece=? AND since=?"))
            .bind(query.number(0))
            .bind(query.number(1))
            .run());
    TRY(TRY(database.query("DELETE FROM contents WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM spans "
                           "WHERE content=?1)"))
            .bind(query.number(2))
            .run());
    return true;
  }));
  TRY(removed([&]() -> Result<bool> {
    TRY(TRY(database.query(
                "DELETE FROM holdings WHERE (world, key, value, piece, since) IN (SELECT world, "
                "key, value, piece, since FROM holdings WHERE world=? LIMIT 64)"))
            .bind(world)
            .run());
    return database.changes() > 0;
  }));
  return removed([&]() -> Result<bool> {
    TRY(TRY(database.query("DELETE FROM pieces WHERE id IN (SELECT id FROM pieces WHERE world=? "
                           "LIMIT 64)"))
            .bind(world)
            .run());
    return database.changes() > 0;
  });
}

}  // namespace fettle
