#include <list>
#include <map>

#include "base/text.h"
#include "kinds/kinds.h"
#include "store/blobs.h"
#include "store/columns.h"
#include "store/content_codec.h"
#include "store/record_codec.h"
#include "store/store_opening.h"
#include "verbs/stores/store_tables.h"
#include "verbs/stores/stores.h"

namespace fettle {
namespace {

/// A damaged store may have as many problems as rows.
constexpr size_t most_problems = 100;

class StoreCheck {
 public:
  StoreCheck(Database& database, std::list<std::string>& texts, OpenedStore& opened,
             const std::stop_token& stop)
      : database_(database),
        texts_(texts),
        blobs_(*opened.disk, *opened.index, opened.blobs),
        stop_(stop) {
    tally_.store = database.name();
  }

  Result<StoreTally> run() {
    {
      const Transaction reading = TRY(Transaction::begin_reading(database_));
      TRY(check_tables());
    }
    TRY(check_contents());
    return std::move(tally_);
  }

 private:
  Status check_tables() {
    if (database_.dialect() == Database::Dialect::sqlite)
      TRY(check_pages());
    TRY(each("SELECT name, detail FROM environments", tally_.environments,
             [this](const Query& row) { return value(row, "environment", 1); }));
    TRY(each("SELECT name, body, environment, kind FROM records", tally_.records,
             [this](const Query& row) -> Status {
               const std::string shown =
                   cat("`", row.text(3), " ", row.text(0), "` in `", row.text(2), "`");
               const Record record =
                   TRY(decode(row.blob(1), database_.seal()).context(cat("the record of ", shown)));
               note_needs(row.text(3), record, shown);
               return {};
             }));
    TRY(each("SELECT sequence, detail FROM events", tally_.events, [this](const Query& row) {
      return value_of_column(row, 1, cat("event ", row.number(0)));
    }));
    TRY(each("SELECT number, detail FROM versions", tally_.versions, [this](const Query& row) {
      return value_of_column(row, 1, cat("version ", row.number(0)));
    }));
    size_t others = 0;
    TRY(each("SELECT name, value FROM notes", others,
             [this](const Query& row) { return value(row, "note", 1); }));
    TRY(each("SELECT digest, body FROM contents", others, [this](const Query& row) -> Status {
      TRY(decode_content(row.blob(1), {}, database_.seal()).context("a piece of a version"));
      return {};
    }));
    TRY(each("SELECT digest FROM blobs ORDER BY digest", others,
             [this](const Query& row) -> Status {
               digests_.emplace_back(row.text(0));
               return {};
             }));
    return each(
        "SELECT piece FROM spans s WHERE NOT EXISTS (SELECT 1 FROM pieces WHERE id=s.piece) OR "
        "NOT EXISTS (SELECT 1 FROM contents WHERE id=s.content)",
        others, [](const Query& row) -> Status {
          return world_error(cat("piece ", row.number(0), " of a version is missing"));
        });
  }

  Status each(const char* sql, size_t& count, const RowLook& look) {
    return each_row(
        database_, texts_, sql,
        [&](const Query& row) -> Status {
          ++count;
          if (const Status good = look(row); !good)
            note(good.error());
          return {};
        },
        stop_);
  }

  void note(const Error& error) {
    if (tally_.problems.size() < most_problems)
      tally_.problems.push_back(to_string(error));
  }

  Status value_of_column(const Query& row, int column, const std::string& what) {
    TRY(value_of(row.blob(column), database_).context(what));
    return {};
  }
  Status value(const Query& row, std::string_view what, int column) {
    return value_of_column(row, column, cat(what, " `", row.text(0), "`"));
  }

  Status check_pages() {
    size_t lines = 0;
    return each("PRAGMA integrity_check", lines, [](const Query& row) -> Status {
      return row.text(0) == "ok" ? Status() : Status(world_error(std::string(row.text(0))));
    });
  }

  void note_needs(std::string_view kind, const Record& record, const std::string& shown) {
    for (const Kind* const one : {&artifact_kind(), &task_kind()})
      if (one->name() == kind && record.applied)
        for (const Name& digest : one->contents(record.outputs))
          if (!digest.empty())
            needs_[digest.str()].push_back(shown);
  }

  /// Reads each content to its end. One that is damaged is put away by that, so it is missing from
  /// then on, as long as a record needs it.
  Status check_contents() {
    for (const std::string& digest : digests_) {
      if (stop_.stop_requested())
        return cancelled_error();
      const Result<Blob> blob = blobs_.open(digest);
      const Status read = blob ? pump(blob->source, [](std::string_view) -> Status { return {}; })
                               : Status(blob.error());
      if (read)
        ++tally_.contents;
      else
        note(needed(read.error(), digest));
      needs_.erase(digest);
    }
    for (const auto& [digest, users] : needs_)
      note(needed(world_error(cat("the content ", digest, " is missing")), digest));
    return {};
  }

  /// The error, and whose next run mends it.
  Error needed(Error error, const std::string& digest) const {
    if (const auto users = needs_.find(digest); users != needs_.end())
      error.message +=
          cat("; needed by ", join(users->second, ", "), ", whose next run makes it again");
    return error;
  }

  Database& database_;
  std::list<std::string>& texts_;
  FileBlobs blobs_;
  const std::stop_token& stop_;
  std::vector<std::string> digests_;                       ///< of all contents
  std::map<std::string, std::vector<std::string>> needs_;  ///< by digest, whose records need it
  StoreTally tally_;
};

}  // namespace

Result<StoreTally> check_store(const std::string& address, const std::string& home,
                               const StoreOpening& opening, const std::stop_token& stop) {
  std::list<std::string> texts;
  const std::unique_ptr<Database> database = TRY(open_database(address, home, nullptr, opening));
  OpenedStore opened = TRY(open_store(address, home, nullptr, opening));
  return StoreCheck(*database, texts, opened, stop).run();
}

}  // namespace fettle
