#include <algorithm>
#include <list>

#include "base/text.h"
#include "store/blobs.h"
#include "store/columns.h"
#include "store/store_opening.h"
#include "verbs/stores/store_tables.h"
#include "verbs/stores/stores.h"

namespace fettle {
namespace {

constexpr const char* rows_at_once = "500";

/// The rows of a table from one database into another. A server's rows come by a cursor, for they
/// may be more than fit into memory.
class TableCopy {
 public:
  /// `texts` has the statements: a database remembers them by their address as long as it lives.
  TableCopy(const StoreTable& table, Database& from, Database& to, std::list<std::string>& texts)
      : from_(from), to_(to) {
    std::string names, places;
    for (const std::string_view column : split(table.columns, ' ')) {
      types_ += column[0];
      names += cat(names.empty() ? "" : ", ", column.substr(2));
      places += places.empty() ? "?" : ",?";
    }
    const bool by_cursor = from.dialect() == Database::Dialect::postgres;
    const std::string select = cat("SELECT ", names, " FROM ", table.name);
    if (by_cursor)
      declare_ = cat("DECLARE all_", table.name, " CURSOR FOR ", select);
    select_ = texts
                  .emplace_back(by_cursor ? cat("FETCH ", rows_at_once, " FROM all_", table.name)
                                          : select)
                  .c_str();
    insert_ =
        texts.emplace_back(cat("INSERT INTO ", table.name, "(", names, ") VALUES(", places, ")"))
            .c_str();
  }

  /// How many rows there were.
  Result<size_t> run(const std::stop_token& stop) {
    size_t rows = 0;
    if (!declare_.empty())
      TRY(from_.execute(declare_.c_str()));
    for (bool more = true; more;) {
      Query query = TRY(from_.query(select_));
      const size_t before = rows;
      for (; TRY(query.step()); ++rows)
        TRY(insert(query));
      more = !declare_.empty() && rows > before;
      if (stop.stop_requested())
        return cancelled_error();
    }
    return rows;
  }

 private:
  Status insert(const Query& row) {
    Query made = TRY(to_.query(insert_));
    for (size_t i = 0; i < types_.size(); ++i) {
      const int column = static_cast<int>(i);
      if (types_[i] == 'n')
        made.bind(row.number(column));
      else if (types_[i] == 't')
        made.bind_kept_text(row.text(column));
      else
        made.bind_kept(row.blob(column));
    }
    return made.run();
  }

  Database& from_;
  Database& to_;
  std::string types_, declare_;
  const char* select_;
  const char* insert_;
};

Status check_nobody_acts(Database& database) {
  Query names = TRY(database.query("SELECT environment, what FROM leases ORDER BY environment"));
  while (TRY(names.step()))
    if (TRY(database.is_locked(edit_lock_name(names.text(0)))))
      return world_error(cat("`", names.text(0), "` is being changed by `", names.text(1),
                             "`: copy the store when that has ended"));
  return {};
}

Status check_empty(Database& database) {
  Query count =
      TRY(database.query("SELECT (SELECT count(*) FROM environments)+(SELECT count(*) FROM "
                         "records)+(SELECT count(*) FROM events)+(SELECT count(*) FROM versions)+"
                         "(SELECT count(*) FROM notes)"));
  TRY(count.step());
  if (count.number(0) == 0)
    return {};
  return user_error(cat("the store `", database.name(),
                        "` is not empty: name another schema, as in `?schema=NAME`, or another "
                        "home"));
}

/// The largest number that an event ever had; it may be gone, and is not given again.
Result<int64_t> last_event(Database& database) {
  Query last = TRY(database.query(
      database.dialect() == Database::Dialect::sqlite
          ? "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name='events'), 0)"
          : "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM events_sequence_seq"));
  TRY(last.step());
  return last.number(0);
}

/// Numbers that are drawn from now on are larger than all that were copied.
Status continue_numbers(Database& database, int64_t event) {
  if (database.dialect() == Database::Dialect::sqlite) {
    TRY(database.execute("DELETE FROM sqlite_sequence WHERE name='events'"));
    return TRY(database.query("INSERT INTO sqlite_sequence(name, seq) VALUES('events',?)"))
        .bind(event)
        .run();
  }
  if (event > 0)
    TRY(TRY(database.query("SELECT setval('events_sequence_seq', ?)")).bind(event).step());
  return database.execute(
      "SELECT setval('contents_id_seq', max(id)) FROM contents HAVING max(id)>0; "
      "SELECT setval('pieces_id_seq', max(id)) FROM pieces HAVING max(id)>0");
}

/// Contents are there before the tables that refer to them. Those that are not used by then are
/// cleared by the next `fettle clean`.
Status copy_contents(Database& from, OpenedStore& source, OpenedStore& target, StoreTally& tally,
                     const std::stop_token& stop) {
  FileBlobs read(*source.disk, *source.index, source.blobs);
  FileBlobs written(*target.disk, *target.index, target.blobs);
  std::vector<std::string> digests;
  {
    Query listed = TRY(from.query("SELECT digest FROM blobs ORDER BY digest"));
    while (TRY(listed.step()))
      digests.emplace_back(listed.text(0));
  }
  for (const std::string& digest : digests) {
    if (stop.stop_requested())
      return cancelled_error();
    const Result<Blob> blob = read.open(digest);
    const Result<std::string> put =
        blob ? written.put(blob->source) : Result<std::string>(blob.error());
    if (put)
      ++tally.contents;
    else if (!put.error().lost_content.empty())
      tally.problems.push_back(to_string(put.error()));
    else
      return put.error();
  }
  return {};
}

}  // namespace

Result<StoreTally> copy_store(const std::string& from, const std::string& to,
                              const std::string& home, const std::stop_token& stop) {
  if (from == to)
    return user_error("a store cannot be copied into itself");
  std::list<std::string> texts;
  const std::unique_ptr<Database> source = TRY(open_database(from, home));
  const std::unique_ptr<Database> target = TRY(open_database(to, home));
  TRY(check_empty(*target));
  TRY(check_nobody_acts(*source));
  StoreTally tally;
  tally.store = target->name();
  // What ends here is not given back: contents of a session are kept as long as it lives.
  OpenedStore read = TRY(open_store(from, home)), written = TRY(open_store(to, home));
  TRY(copy_contents(*source, read, written, tally, stop));
  const Transaction reading = TRY(Transaction::begin_reading(*source));
  Transaction writing = TRY(Transaction::begin(*target, {turn_of_versions}));
  TRY(check_empty(*target));
  for (const StoreTable& table : store_tables()) {
    const std::string_view name = table.name;
    const size_t rows = TRY(TableCopy(table, *source, *target, texts).run(stop));
    if (name == "environments")
      tally.environments = rows;
    else if (name == "records")
      tally.records = rows;
    else if (name == "events")
      tally.events = rows;
    else if (name == "versions")
      tally.versions = rows;
  }
  TRY(target->execute("UPDATE leases SET process=0"));
  TRY(continue_numbers(*target, TRY(last_event(*source))));
  TRY(writing.commit());
  return tally;
}

}  // namespace fettle
