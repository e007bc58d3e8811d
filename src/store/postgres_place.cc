#include "store/postgres_place.h"

#include <charconv>
#include <chrono>

#include "base/text.h"
#include "base/token.h"
#include "core/event.h"
#include "store/columns.h"
#include "store/postgres_schema.h"
#include "store/store.h"

namespace fettle {
namespace {

constexpr std::string_view place_setting = "place";
constexpr int hexadecimal = 16;

/// Events that are drawn after a fail-over are larger than those that anybody has seen before it.
constexpr int64_t jump_of_events = 1'000'000;

std::optional<int64_t> number_in(std::string_view digits, int base) {
  int64_t number = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (failure != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

/// None: the server does not tell, as some that are rented do not.
Result<std::optional<ServerPlace>> place_of(Postgres& database) {
  // The name of the log's file begins with the timeline, which a checkpoint tells only later.
  Query query = TRY(database.query(
      "SELECT system_identifier::text, pg_walfile_name(pg_current_wal_insert_lsn()), "
      "'settings'::regclass::oid::text FROM pg_control_system()"));
  constexpr size_t timeline_digits = 8;
  if (const Result<bool> told = query.step(); !told || !*told)
    return std::optional<ServerPlace>();
  const std::optional<int64_t> timeline =
      number_in(query.text(1).substr(0, timeline_digits), hexadecimal);
  return std::optional(
      ServerPlace{std::string(query.text(0)), timeline.value_or(0), std::string(query.text(2))});
}

/// What the store lacks, for people.
std::string text_of(const ServerPlace& before, const ServerPlace& now) {
  if (before.system != now.system)
    return "it is on another server than before";
  if (before.timeline != now.timeline)
    return cat("its server was failed over, or put back (timeline ", now.timeline, " after ",
               before.timeline, ")");
  return "its tables were put back from a backup";
}

/// Nobody has a right any more, and no number is given twice: a holder that was given one by the
/// server of before is refused, and so is whoever is given one there from now on. How many were
/// given there is not known, nor whether another standby has begun at the same number.
Status take_all_rights(Postgres& database) {
  constexpr size_t digits = 10;
  const int64_t jump =
      number_in(TRY(new_token("a number of rights")).substr(0, digits), hexadecimal).value_or(0) +
      1;
  TRY(TRY(database.query("INSERT INTO counters VALUES('leases',?1) ON CONFLICT(name) DO UPDATE SET "
                         "value=counters.value+?1"))
          .bind(jump)
          .run());
  return database.execute(
      "UPDATE leases SET process=0, token=(SELECT value FROM counters WHERE name='leases')");
}

/// Readers who go on from the last number that they have seen miss nothing; none waits for a
/// transaction of another server.
Status continue_events(Postgres& database) {
  TRY(TRY(database.query("SELECT setval('events_sequence_seq', last_value+?) FROM "
                         "events_sequence_seq"))
          .bind(jump_of_events)
          .step());
  return database.execute(
      "UPDATE events SET written_by=pg_current_xact_id() WHERE written_by>pg_current_xact_id()");
}

Status tell_environments(Postgres& database, const std::string& text) {
  const int64_t now =
      count_of(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
  TRY(TRY(database.query(
              "INSERT INTO notes SELECT name, ?1, ?2 FROM (SELECT name FROM environments UNION "
              "SELECT environment FROM records) AS each WHERE name<>'' ON CONFLICT(environment, "
              "name) DO UPDATE SET value=excluded.value"))
          .bind(failed_over_note)
          .bind_blob(bytes_of(Value(text), database))
          .run());
  return TRY(database.query(
                 "INSERT INTO events(time, type, environment, kind, name, verb, because_kind, "
                 "because_name, text, detail) SELECT ?1, ?2, environment, '', '', 0, '', '', ?3, "
                 "?4 FROM notes WHERE name=?5"))
      .bind(now)
      .bind(static_cast<int64_t>(EventType::failed_over))
      .bind(std::string_view(text))
      .bind_blob(bytes_of(Value::dict({}), database))
      .bind(failed_over_note)
      .run();
}

Status go_over(Postgres& database, const ServerPlace& before, const ServerPlace& now) {
  TRY(take_all_rights(database));
  TRY(continue_events(database));
  return tell_environments(database,
                           cat("the store may lack its last records: ", text_of(before, now)));
}

/// Once for all who come at the same time.
Status settle_in_store(Postgres& database, const ServerPlace& place) {
  const std::string text = to_string(place);
  if (TRY(setting_of(database, place_setting)) == text)
    return {};
  Transaction transaction = TRY(Transaction::begin(database, {turn_of_settings}));
  const std::optional<std::string> found = TRY(setting_of(database, place_setting));
  if (found == text)
    return {};
  TRY(TRY(database.query("INSERT INTO settings VALUES(?,?) ON CONFLICT(name) DO UPDATE SET "
                         "value=excluded.value"))
          .bind(place_setting)
          .bind(std::string_view(text))
          .run());
  if (const auto before = parse_place(found.value_or("")))
    TRY(go_over(database, *before, place));
  return transaction.commit();
}

}  // namespace

std::string to_string(const ServerPlace& place) {
  return cat(place.system, "/", place.timeline, "/", place.tables);
}

std::optional<ServerPlace> parse_place(std::string_view text) {
  const auto parts = split(text, '/');
  constexpr size_t all = 3;
  if (parts.size() != all)
    return std::nullopt;
  const std::optional<int64_t> timeline = number_in(parts[1], 10);
  if (!timeline)
    return std::nullopt;
  return ServerPlace{std::string(parts[0]), *timeline, std::string(parts[2])};
}

Status settle_place(Postgres& database, const Path& home) {
  const std::optional<ServerPlace> place = TRY(place_of(database));
  if (!place)
    return {};
  const Path memory = home / "stores" / TRY(setting_of(database, "id")).value_or("unnamed");
  const std::optional<ServerPlace> seen = parse_place(read_file(memory).value_or(""));
  if (seen && seen->system == place->system && seen->timeline > place->timeline)
    return user_error(
        cat("the store `", database.name(), "` was left behind: its server is on timeline ",
            place->timeline, ", and was failed over to one on timeline ", seen->timeline,
            "; name that one, or remove `", memory.string(), "` if this one is to be used again"));
  TRY(settle_in_store(database, *place));
  if (seen == place)
    return {};
  // A home whose disk is full remembers nothing, and uses the store all the same.
  if (make_directories(memory.parent_path()))
    static_cast<void>(write_file(memory, to_string(*place), 0600));
  return {};
}

}  // namespace fettle
