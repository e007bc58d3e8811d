#include <list>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "store/blobs.h"
#include "store/columns.h"
#include "store/key_command.h"
#include "store/store_keys.h"
#include "store/store_opening.h"
#include "verbs/stores/store_tables.h"
#include "verbs/stores/stores.h"

namespace fettle {
namespace {

/// The rows of a table from one database into another.
class TableCopy {
 public:
  TableCopy(const StoreTable& table, Database& from, Database& to, std::list<std::string>& texts)
      : from_(from), to_(to), texts_(texts) {
    std::string names, places;
    for (const std::string_view column : split(table.columns, ' ')) {
      types_ += column[0];
      names += cat(names.empty() ? "" : ", ", column.substr(2));
      places += places.empty() ? "?" : ",?";
    }
    select_ = cat("SELECT ", names, " FROM ", table.name);
    insert_ =
        texts.emplace_back(cat("INSERT INTO ", table.name, "(", names, ") VALUES(", places, ")"))
            .c_str();
  }

  /// How many rows there were.
  Result<size_t> run(const std::stop_token& stop) {
    size_t rows = 0;
    TRY(each_row(
        from_, texts_, select_,
        [&](const Query& row) {
          ++rows;
          return insert(row);
        },
        stop));
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
  std::list<std::string>& texts_;
  std::string types_, select_;
  const char* insert_;
};

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

/// Things of an engine bear the mark of the store, or of the home with its file. Whoever goes on with
/// the copy goes on with them, so the mark is copied, too.
Status copy_mark(const OpenedStore& from, Database& to, const Path& home) {
  const Path of_home = home / "id";
  const std::string mark =
      from.id.empty() ? std::string(trim(read_file(of_home).value_or(""))) : from.id;
  if (mark.empty())
    return {};
  if (to.dialect() == Database::Dialect::sqlite)
    return write_file(of_home, mark + "\n", 0600);
  return TRY(to.query("UPDATE settings SET value=? WHERE name='id'")).bind(mark).run();
}

/// Contents are there before the tables that refer to them. Those that are not used by then are
/// cleared by the next `fettle clean`.
class ContentsCopy {
 public:
  ContentsCopy(OpenedStore& source, OpenedStore& target, StoreTally& tally)
      : read_(*source.disk, *source.index, source.blobs),
        written_(*target.disk, *target.index, target.blobs),
        tally_(tally) {}

  /// Those that are listed and were not when this was called before.
  Status run(Database& from, const std::stop_token& stop) {
    std::vector<std::string> digests;
    {
      Query listed = TRY(from.query("SELECT digest FROM blobs ORDER BY digest"));
      while (TRY(listed.step()))
        if (std::string digest(listed.text(0)); seen_.insert(digest).second)
          digests.push_back(std::move(digest));
    }
    for (const std::string& digest : digests) {
      if (stop.stop_requested())
        return cancelled_error();
      TRY(copy(digest));
    }
    return {};
  }

 private:
  Status copy(const std::string& digest) {
    const Result<Blob> blob = read_.open(digest);
    const Result<std::string> put =
        blob ? written_.put(blob->source) : Result<std::string>(blob.error());
    if (put)
      ++tally_.contents;
    else if (!put.error().lost_content.empty())
      tally_.problems.push_back(to_string(put.error()));
    else
      return put.error();
    return {};
  }

  FileBlobs read_, written_;
  StoreTally& tally_;
  std::set<std::string> seen_;
};

}  // namespace

namespace {

/// Whoever opens the copy must find the key that it gets: of a shared store with a command, the command
/// gives it; beside a file it is a file.
Status make_key_found(const Database& target, const Seal& key, const std::string& home) {
  const bool is_file = target.dialect() == Database::Dialect::sqlite;
  if (!is_file && !key_command().empty())
    return check_command_gives(target.name(), key);
  if (key_of_home(target.name(), home, key.id()))
    return {};
  const Path kept = path_of_key(home, key.id());
  TRY(make_directories(kept.parent_path()));
  return key.keep(kept);
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
  TRY(check_nobody_acts(*source, "copy the store"));
  StoreTally tally;
  tally.store = target->name();
  // What ends here is not given back: contents of a session are kept as long as it lives.
  OpenedStore read = TRY(open_store(from, home)), written = TRY(open_store(to, home));
  ContentsCopy contents(read, written, tally);
  TRY(contents.run(*source, stop));
  const Transaction reading = TRY(Transaction::begin_reading(*source));
  // Somebody may have come and gone, or be there, since that began.
  TRY(check_nobody_acts(*source, "copy the store"));
  TRY(contents.run(*source, stop));
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
  TRY(make_key_found(*target, *source->seal(), home));
  TRY(put_key(*target, *source->seal()));
  TRY(copy_mark(read, *target, home));
  TRY(writing.commit());
  return tally;
}

}  // namespace fettle
