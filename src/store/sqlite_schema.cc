#include "store/sqlite_schema.h"

#include <array>

#include "base/text.h"
#include "store/columns.h"
#include "store/record_codec.h"
#include "store/references.h"

namespace fettle {
namespace {

/// Each migration brings the file from one version to the next. The number of the last one is the
/// version.
const std::array<const char*, 5> migrations{
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
    // `world` is the hash of the environment's name. `since` is the first version with the content,
    // `until` the first one without it.
    R"(
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
)",
    // The index covers every version, as the spans do; in it, `until` 0 means none. Staged data is
    // written under a number that no version has yet. `token` grows with every lease; a lease with
    // process 0 was given back. `session` names the session that put a content and may be about to
    // refer to it.
    R"(
DROP TABLE leases;
CREATE TABLE leases(environment TEXT PRIMARY KEY, token INTEGER NOT NULL, process INTEGER NOT NULL, machine TEXT NOT NULL,
  what TEXT NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
ALTER TABLE environments ADD COLUMN removing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN because_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN because_name TEXT NOT NULL DEFAULT '';
CREATE TABLE cache(name TEXT PRIMARY KEY, value BLOB NOT NULL, written INTEGER NOT NULL) WITHOUT ROWID, STRICT;
DELETE FROM notes WHERE environment='';
CREATE TABLE blobs(digest TEXT PRIMARY KEY, size INTEGER NOT NULL, session TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE record_uses(digest TEXT NOT NULL, environment TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(digest, environment, kind, name)) WITHOUT ROWID, STRICT;
CREATE INDEX record_uses_of ON record_uses(environment, kind, name);
CREATE TABLE version_uses(digest TEXT NOT NULL, world INTEGER NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY(digest, world, number)) WITHOUT ROWID, STRICT;
CREATE TABLE staging(world INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT;
ALTER TABLE holdings RENAME TO older_holdings;
CREATE TABLE holdings(world INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, piece INTEGER NOT NULL,
  since INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY(world, key, value, piece, since)) WITHOUT ROWID, STRICT;
INSERT INTO holdings SELECT h.world, h.key, h.value, h.piece, s.since, 0 FROM older_holdings h
  JOIN spans s ON s.piece=h.piece AND s.until=9223372036854775807;
DROP TABLE older_holdings;
CREATE INDEX holdings_until ON holdings(world, until) WHERE until>0;
)",
    // Keys of states hold the ID, no longer the name. Code that reads the states of an environment
    // with this note upgrades them first (`verbs/states/state_keys.h`). X'00' is null.
    R"(
INSERT OR IGNORE INTO notes SELECT DISTINCT environment, 'states_by_name', X'00' FROM records WHERE instr(name, '_|-')>0;
)",
    // `role` is a `Holder::Role`. Before, a controller was known by the text that it gave about
    // itself.
    R"(
ALTER TABLE leases ADD COLUMN role INTEGER NOT NULL DEFAULT 0;
UPDATE leases SET role=1 WHERE what LIKE 'fettle controller%';
)",
};

/// The first format that lists references of records and versions.
constexpr size_t format_with_uses = 3;

/// Lists the references of data that was written before they were listed. A damaged record is
/// reported when it is read.
Status list_uses(Sqlite& database) {
  Query records = TRY(database.query("SELECT environment, kind, name, body FROM records"));
  while (TRY(records.step()))
    if (const Result<Record> record = decode(records.blob(3), database.seal()))
      for (const std::string& digest : digests_in(*record))
        TRY(TRY(database.query("INSERT OR IGNORE INTO record_uses VALUES(?,?,?,?)"))
                .bind(digest)
                .bind(records.text(0))
                .bind(records.text(1))
                .bind(records.text(2))
                .run());
  Query versions = TRY(database.query("SELECT world, number, detail FROM versions"));
  while (TRY(versions.step()))
    if (const Result<Value> detail = value_of(versions.blob(2), database))
      for (const std::string& digest : digests_in(*detail))
        TRY(TRY(database.query("INSERT OR IGNORE INTO version_uses VALUES(?,?,?)"))
                .bind(digest)
                .bind(versions.number(0))
                .bind(versions.number(1))
                .run());
  return {};
}

}  // namespace

Status migrate(Sqlite& database) {
  Query version = TRY(database.query("PRAGMA user_version"));
  TRY(version.step());
  const int64_t found = version.number(0);
  if (found == static_cast<int64_t>(migrations.size()))
    return {};
  if (found > static_cast<int64_t>(migrations.size()))
    return world_error(cat("the store has format ", found,
                           ", but this fettle supports formats up to ", migrations.size(),
                           "; use the newer fettle that wrote it"));
  static_cast<void>(version.step());  // ends the read, so that writing can start
  Transaction transaction = TRY(Transaction::begin(database, {}));
  // Another process may have been faster.
  Query again = TRY(database.query("SELECT user_version FROM pragma_user_version"));
  TRY(again.step());
  auto next = static_cast<size_t>(again.number(0));
  static_cast<void>(again.step());
  for (; next < migrations.size(); ++next) {
    TRY(database.execute(migrations[next]));
    if (next + 1 == format_with_uses)
      TRY(list_uses(database));
    TRY(database.execute(cat("PRAGMA user_version=", next + 1).c_str()));
  }
  return transaction.commit();
}

}  // namespace fettle
