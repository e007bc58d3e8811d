/// How a connection begins, what is asked of the server, and the words when it fails.

#include <memory>

#include "base/text.h"
#include "store/postgres.h"

namespace fettle {
namespace {

constexpr int oldest_version = 150'000;

/// Settings that an address may say otherwise: nobody waits for a dead server for long.
constexpr std::pair<const char*, const char*> usual_settings[] = {
    {"application_name", "fettle"}, {"connect_timeout", "10"}, {"keepalives_idle", "15"},
    {"keepalives_interval", "5"},   {"keepalives_count", "4"}, {"tcp_user_timeout", "30000"},
    {"client_encoding", "UTF8"},
};

/// Settings of each session. A client whose machine is gone, or that stands still within a
/// transaction, must not keep its locks for as long as others wait for them.
constexpr const char* session_settings =
    "SET lock_timeout='20s'; SET idle_in_transaction_session_timeout='15s'; "
    "SET tcp_keepalives_idle=15; SET tcp_keepalives_interval=5; SET tcp_keepalives_count=4; "
    "SET tcp_user_timeout=30000; SET client_min_messages=warning";

void say_nothing(void*, const char*) {}

}  // namespace

Result<PGconn*> Postgres::new_connection() {
  const std::unique_ptr<PQconninfoOption, decltype(library_.conninfo_free)> options(
      library_.conninfo_parse(address_.url.c_str(), nullptr), library_.conninfo_free);
  // libpq repeats parts of what it cannot read, which may be a password.
  if (options == nullptr)
    return user_error(
        cat("`", address_.shown,
            "` is not an address that libpq understands: expected "
            "`postgres://USER@HOST:5432/DATABASE`, with `%40` for `@` in a password"));
  std::vector<const char*> names, values;
  for (const auto& [name, value] : usual_settings) {
    names.push_back(name);
    values.push_back(value);
  }
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr)
      continue;
    if (std::string_view(option->keyword) == "password")
      password_ = option->val;
    names.push_back(option->keyword);
    values.push_back(option->val);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  PGconn* const made = library_.connect(names.data(), values.data(), 0);
  if (made == nullptr)
    return world_error("out of memory");
  if (library_.status(made) == CONNECTION_OK) {
    library_.set_notice_processor(made, say_nothing, nullptr);
    library_.set_nonblocking(made, 1);
    return made;
  }
  const std::string words = words_of(library_.error_message(made));
  library_.finish(made);
  return world_error(cat("the store `", address_.shown, "` cannot be reached: ", words));
}

Status Postgres::connect() {
  if (connection_ != nullptr)
    library_.finish(std::exchange(connection_, nullptr));
  taken_.clear();
  listens_ = false;
  is_broken_ = false;
  is_silent_ = false;
  sent_ = 0;
  ++connections_;
  ++stamp_;
  connection_ = TRY(new_connection());
  Status checked = check_server();
  if (checked)
    checked = check_no_pooler();
  if (checked)
    checked = run(session_settings);
  if (checked)
    checked = check_schema();
  if (checked && greet_) {
    // It asks on this connection; if that is lost, so is the greeting.
    const int64_t begun = connections_;
    const std::function<Status()> greet = std::exchange(greet_, nullptr);
    checked = greet();
    greet_ = greet;
    if (checked && begun != connections_)
      checked = lost_error();
  }
  if (!checked && connection_ != nullptr)
    library_.finish(std::exchange(connection_, nullptr));
  return checked;
}

Status Postgres::stay_connected() {
  if (!is_lost())
    return {};
  return is_in_transaction_ ? Status(lost_error()) : connect();
}

Status Postgres::check_server() {
  if (const int version = library_.server_version(connection_); version < oldest_version)
    return user_error(cat("the store `", address_.shown, "` is in PostgreSQL ", version / 10'000,
                          "; 15 or later is needed"));
  std::string synchronous;
  bool is_standby = false;
  TRY(run("SELECT pg_backend_pid(), current_setting('synchronous_commit'), pg_is_in_recovery()",
          [&](const PGresult* result) {
            backend_ = std::stoi(text_of(result, 0));
            synchronous = text_of(result, 1);
            is_standby = text_of(result, 2) == "t";
          }));
  if (is_standby)
    return user_error(cat("the store `", address_.shown,
                          "` is a standby, which nobody can write to: name the primary, or both "
                          "with `target_session_attrs=read-write`"));
  if (synchronous == "off")
    return user_error(cat("the store `", address_.shown,
                          "` has `synchronous_commit=off`, so a power loss there takes away what "
                          "was acted on: `ALTER ROLE … SET synchronous_commit=on`, or set it in "
                          "`postgresql.conf`"));
  return {};
}

/// A pooler tells another process than the one that answers. Whether it gives each transaction
/// another one shows beside a second client: that one gets ours, or ours is not ours any more.
Status Postgres::check_no_pooler() {
  if (library_.backend_pid(connection_) == backend_)
    return {};
  PGconn* const first = connection_;
  const int mine = backend_;
  int second_backend = 0, again = 0;
  const auto read_into = [this](int& number) {
    return [this, &number](const PGresult* result) {
      if (library_.rows(result) > 0)
        number = std::stoi(text_of(result, 0));
    };
  };
  PGconn* const second = TRY(new_connection());
  connection_ = second;
  const Status asked = run("BEGIN; SELECT pg_backend_pid()", read_into(second_backend));
  connection_ = first;
  const Status asked_again = run("SELECT pg_backend_pid()", read_into(again));
  library_.finish(second);
  TRY(Status(asked));
  TRY(Status(asked_again));
  if (second_backend != mine && again == mine)
    return {};
  return user_error(cat("the store `", address_.shown,
                        "` is behind a pooler that gives each transaction another connection: "
                        "name the server itself, or set `pool_mode=session`"));
}

/// Whoever names no schema gets the one that the server's settings say.
Status Postgres::check_schema() {
  if (!address_.schema.empty())
    return run(cat("SET search_path TO \"", address_.schema, "\""));
  TRY(run("SELECT current_schema()",
          [&](const PGresult* result) { address_.schema = text_of(result, 0); }));
  if (address_.schema.empty())
    return user_error(cat("no schema of `", address_.shown,
                          "` is meant: name one for the store, as in `?schema=fettle`"));
  return {};
}

std::string Postgres::words_of(std::string message) const {
  std::string words;
  for (const std::string_view line : split(message, '\n'))
    if (const std::string_view kept = trim(line); !kept.empty())
      words += cat(words.empty() ? "" : "; ", kept);
  for (size_t at = 0; !password_.empty() && (at = words.find(password_, at)) != words.npos;
       at += masked.size())
    words.replace(at, password_.size(), masked);
  return words;
}

Error Postgres::lost_error(const std::string& words) const {
  if (is_silent_)
    return world_error(
        cat("the store `", address_.shown, "` said nothing for ", to_string(silence_),
            " (`--silence-timeout`): its server stands still, or cannot be reached"));
  const std::string told = connection_ == nullptr || !words.empty()
                               ? words
                               : words_of(library_.error_message(connection_));
  return world_error(cat("the connection to the store `", address_.shown, "` was lost",
                         told.empty() ? "" : ": ", told));
}

/// An error with which the server ends the connection is known before its end. One without a state
/// is libpq's own: it could not send or receive.
Error Postgres::error_of(const PGresult* result) {
  const auto field = [&](int code) {
    const char* const text =
        result == nullptr ? nullptr : library_.result_error_field(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(PG_DIAG_SQLSTATE), detail = field(PG_DIAG_MESSAGE_DETAIL);
  const std::string severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
  std::string words = words_of(field(PG_DIAG_MESSAGE_PRIMARY));
  is_broken_ |= state.empty() || severity == "FATAL" || severity == "PANIC";
  if (is_lost())
    return lost_error(words);
  if (!detail.empty())
    words += cat(" (", words_of(detail), ")");
  if (state == "53100")
    words += "; what was recorded is safe; free some space there and run the same command again";
  else if (state == "55P03")
    words += "; somebody else keeps writing";
  return world_error(cat("the store `", address_.shown, "`: ", words));
}

}  // namespace fettle
