#include "model/std/pydantic_types.h"

#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "model/std/formats.h"
#include "model/values/numbers.h"

namespace fettle::model {
namespace pydantic {
namespace {

using Check = bool (*)(const Datum& value);

bool matches(std::string_view text, const char* pattern) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool is_real(const Datum& value) {
  if (value.is_number())
    return std::isfinite(as_float(value));
  return value.tag == Tag::text &&
         matches(trim(value.view()), R"([+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?)");
}

/// A number of bytes: `3`, `1.5 kB`. Anything may follow that is no word.
bool is_size(const Datum& value) {
  if (value.is_whole())
    return as_float(value) >= 0;
  return value.tag == Tag::text &&
         matches(
             value.view(),
             R"((?is)\s*[0-9]*[.]?[0-9]+(\s*(([kmgtpe]i?)?b|[kmgtpe]?bit|[kmgtpe]i?bit|[kmgtpe]i)(\W.*)?|\s*([^\w\s].*)?))");
}

/// ISO 8601, or days and a time of day.
bool is_duration(const Datum& value) {
  if (value.is_number())
    return std::abs(as_float(value)) < 86'400.0 * 1e9;
  if (value.tag != Tag::text || value.view().empty())
    return false;
  constexpr const char* iso = R"([+-]?P([0-9]+([.][0-9]+)?[YMWD])*(T([0-9]+([.][0-9]+)?[HMS])+)?)";
  constexpr const char* plain =
      R"((?i)[+-]?([0-9]+ ?d(ays?)?,? ?)?([0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?)?)";
  const std::string_view text = value.view();
  return (matches(text, iso) && !text.ends_with('P')) ||
         (matches(text, plain) && text != "+" && text != "-");
}

/// Decodes like Python: other characters are skipped. None: it is no Base64.
std::optional<std::string> decode_base64(std::string_view text, std::string_view last_two) {
  std::string made;
  uint32_t bits = 0;
  int quad = 0, pads = 0;
  for (const char c : text) {
    if (c == '=') {
      if (quad >= 2 && quad + ++pads >= 4)
        return made;
      continue;
    }
    const size_t other = last_two.find(c);
    const int value = c >= 'A' && c <= 'Z'     ? c - 'A'
                      : c >= 'a' && c <= 'z'   ? c - 'a' + 26
                      : c >= '0' && c <= '9'   ? c - '0' + 52
                      : other != last_two.npos ? 62 + static_cast<int>(other)
                                               : -1;
    if (value < 0)
      continue;
    pads = 0;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (quad > 0)
      made.push_back(static_cast<char>(bits >> (6 - 2 * quad) & 0xff));
    quad = (quad + 1) % 4;
  }
  return quad == 0 ? std::optional(made) : std::nullopt;
}

template <bool is_url, bool is_text>
bool is_base64(const Datum& value) {
  if (value.tag != Tag::text)
    return false;
  std::string text(value.view());
  if (is_url)
    text = replace_all(replace_all(text, "-", "+"), "_", "/");
  const std::optional<std::string> made = decode_base64(text, "+/");
  return made && (!is_text || is_valid_utf8(*made));
}

bool is_card(const Datum& value) {
  if (value.tag != Tag::text || !matches(value.view(), "[0-9]{12,19}"))
    return false;
  int sum = 0;
  bool is_doubled = false;
  for (size_t i = value.view().size(); i-- > 0; is_doubled = !is_doubled) {
    const int digit = (value.view()[i] - '0') * (is_doubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 == 0;
}

bool is_new_path(const Datum& value) {
  if (value.tag != Tag::text)
    return false;
  std::error_code failed;
  const std::filesystem::path path(value.view());
  const std::filesystem::path parent = path.parent_path();
  return !std::filesystem::exists(path, failed) && !value.view().empty() &&
         (parent.empty() || std::filesystem::exists(parent, failed));
}

bool is_socket_path(const Datum& value) {
  std::error_code failed;
  return value.tag == Tag::text && std::filesystem::is_socket(value.view(), failed);
}

bool has_zone(std::string_view text) {
  return matches(text, R"(.*[tT _].*([zZ]|[+-][0-9]{2}:?[0-9]{2}))");
}
/// Seconds since 1970 have a zone, too.
bool is_number_of_seconds(const Datum& value) {
  return value.tag != Tag::text || matches(value.view(), R"([+-]?[0-9.]+)");
}
bool is_moment(const Datum& value) {
  return value.tag == Tag::text       ? is_date_time(value.view())
         : value.tag == Tag::integer  ? is_date_time(std::to_string(value.integer))
         : value.tag == Tag::floating ? is_date_time(std::to_string(value.floating))
                                      : false;
}
bool is_aware(const Datum& value) {
  return is_moment(value) && (is_number_of_seconds(value) || has_zone(value.view()));
}
bool is_naive(const Datum& value) {
  return is_moment(value) && !is_number_of_seconds(value) && !has_zone(value.view());
}

/// The parts of a written moment; of a date, midnight. `shift`: that of its zone, in seconds.
struct MomentParts {
  int64_t seconds = 0;  ///< since 1970, as if it was in UTC
  std::optional<int64_t> shift;
};

int64_t seconds_of(std::tm written) { return timegm(&written); }

std::optional<MomentParts> written_in(const Datum& value) {
  if (is_number_of_seconds(value)) {
    double number = value.is_number() ? as_float(value) : std::stod(std::string(value.view()));
    constexpr double most_seconds = 2e10;  // above it is milliseconds
    number = std::abs(number) > most_seconds ? number / 1000 : number;
    return MomentParts{static_cast<int64_t>(std::floor(number)), 0};
  }
  std::string year, month, day, hour, minute, second, sign, hours, minutes;
  const std::string text(value.view());
  if (!RE2::FullMatch(
          text,
          R"(([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[tT _]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?\s*(?:[zZ]|([+-])([0-9]{2}):?([0-9]{2}))?)?)",
          &year, &month, &day, &hour, &minute, &second, &sign, &hours, &minutes))
    return std::nullopt;
  const auto number = [](const std::string& digits) {
    return digits.empty() ? 0 : std::stoi(digits);
  };
  std::tm made{};
  made.tm_year = number(year) - 1900;
  made.tm_mon = number(month) - 1;
  made.tm_mday = number(day);
  made.tm_hour = number(hour);
  made.tm_min = number(minute);
  made.tm_sec = number(second);
  MomentParts written{seconds_of(made), std::nullopt};
  if (has_zone(text))
    written.shift = (number(hours) * 3600 + number(minutes) * 60) * (sign == "-" ? -1 : 1);
  return written;
}

/// The time that this machine's clock shows.
int64_t local_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now_from_clock()));
  std::tm local{};
  localtime_r(&now, &local);
  return seconds_of(local);
}
int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(now_from_clock().time_since_epoch())
      .count();
}

/// A day after or before today, by local time.
template <int direction>
bool is_day(const Datum& value) {
  constexpr int64_t day = 86'400;
  const bool is_date_of_text = value.tag == Tag::text      ? is_date(value.view())
                               : value.tag == Tag::integer ? is_date(std::to_string(value.integer))
                               : value.tag == Tag::floating
                                   ? is_date(std::to_string(value.floating))
                                   : false;
  const std::optional<MomentParts> written = is_date_of_text ? written_in(value) : std::nullopt;
  const auto day_of = [](int64_t seconds) { return seconds / day - (seconds % day < 0 ? 1 : 0); };
  return written && (day_of(written->seconds) - day_of(local_now())) * direction > 0;
}

/// A moment after or before now.
template <int direction>
bool is_time_from_now(const Datum& value) {
  const std::optional<MomentParts> written = is_moment(value) ? written_in(value) : std::nullopt;
  if (!written)
    return false;
  const int64_t distance =
      written->shift ? written->seconds - *written->shift - now() : written->seconds - local_now();
  return distance * direction > 0;
}

/// Safe, unsafe, or unknown.
bool is_safety(const Datum& value) {
  return value.tag == Tag::null ||
         (value.tag == Tag::integer && (value.integer == 0 || value.integer == -1));
}

template <char version>
bool is_uuid_of(const Datum& value) {
  return value.tag == Tag::text && uuid_version(value.view()) == version;
}

bool is_text(const Datum& value) { return value.tag == Tag::text; }
bool is_never(const Datum&) { return false; }
bool is_always(const Datum&) { return true; }

struct UrlRule {
  std::vector<std::string_view> schemes;
  bool needs_host = false;
};

const std::unordered_map<std::string_view, UrlRule>& urls() {
  static const std::unordered_map<std::string_view, UrlRule> table{
      {"pydantic.AnyWebsocketUrl", {{"ws", "wss"}}},
      {"pydantic.WebsocketUrl", {{"ws", "wss"}}},
      {"pydantic.FileUrl", {{"file"}}},
      {"pydantic.FtpUrl", {{"ftp"}}},
      {"pydantic.AmqpDsn", {{"amqp", "amqps"}}},
      {"pydantic.KafkaDsn", {{"kafka"}}},
      {"pydantic.NatsDsn", {{"nats", "tls", "ws", "wss"}}},
      {"pydantic.MongoDsn", {{"mongodb", "mongodb+srv"}}},
      {"pydantic.MySQLDsn",
       {{"mysql", "mysql+mysqlconnector", "mysql+aiomysql", "mysql+asyncmy", "mysql+mysqldb",
         "mysql+pymysql", "mysql+cymysql", "mysql+pyodbc"},
        true}},
      {"pydantic.MariaDBDsn", {{"mariadb", "mariadb+mariadbconnector", "mariadb+pymysql"}}},
      {"pydantic.ClickHouseDsn",
       {{"clickhouse+native", "clickhouse+asynch", "clickhouse+http", "clickhouse", "clickhouses",
         "clickhousedb"}}},
      {"pydantic.CockroachDsn",
       {{"cockroachdb", "cockroachdb+psycopg2", "cockroachdb+asyncpg"}, true}},
      {"pydantic.SnowflakeDsn", {{"snowflake"}, true}},
  };
  return table;
}

bool is_url_of(const UrlRule& rule, const Datum& value) {
  if (value.tag != Tag::text || !is_any_url(value.view()))
    return false;
  const std::string_view text = trim(value.view());
  const std::string scheme = lower_case(text.substr(0, text.find(':')));
  if (std::find(rule.schemes.begin(), rule.schemes.end(), scheme) == rule.schemes.end())
    return false;
  const size_t host = text.find("://");
  return !rule.needs_host || (host != text.npos && host + 3 < text.size() && text[host + 3] != '/');
}

const std::unordered_map<std::string_view, Check>& value_checks() {
  static const std::unordered_map<std::string_view, Check> table{
      {"pydantic.FiniteFloat", is_real},
      {"pydantic.ByteSize", is_size},
      {"pydantic.Base64Bytes", is_base64<false, false>},
      {"pydantic.Base64Str", is_base64<false, true>},
      {"pydantic.Base64UrlBytes", is_base64<true, false>},
      {"pydantic.Base64UrlStr", is_base64<true, true>},
      {"pydantic.PaymentCardNumber", is_card},
      {"pydantic.NewPath", is_new_path},
      {"pydantic.SocketPath", is_socket_path},
      {"pydantic.AwareDatetime", is_aware},
      {"pydantic.NaiveDatetime", is_naive},
      {"pydantic.UUID6", is_uuid_of<'6'>},
      {"pydantic.UUID7", is_uuid_of<'7'>},
      {"pydantic.UUID8", is_uuid_of<'8'>},
      {"pydantic.SecretBytes", is_text},
      {"pydantic.StrictBytes", is_never},
      {"pydantic.JsonValue", is_always},
      {"pydantic.OnErrorOmit", is_always},
      {"pydantic.SkipValidation", is_always},
      {"pydantic.InstanceOf", is_never},
      {"pydantic.FutureDate", is_day<1>},
      {"pydantic.PastDate", is_day<-1>},
      {"pydantic.FutureDatetime", is_time_from_now<1>},
      {"pydantic.PastDatetime", is_time_from_now<-1>},
      {"uuid.SafeUUID", is_safety},
      {"datetime.timedelta", is_duration},
  };
  return table;
}

}  // namespace
}  // namespace pydantic

Verdict check_pydantic(std::string_view type, const Datum& value) {
  const auto verdict = [](bool fits) { return fits ? Verdict::fits : Verdict::differs; };
  if (const auto found = pydantic::value_checks().find(type);
      found != pydantic::value_checks().end())
    return verdict(found->second(value));
  if (const auto found = pydantic::urls().find(type); found != pydantic::urls().end())
    return verdict(pydantic::is_url_of(found->second, value));
  for (const std::string_view prefix : {"pydantic.", "datetime.", "ipaddress.", "uuid."})
    if (type.starts_with(prefix))
      return Verdict::is_no_type;
  return Verdict::is_unknown;
}

}  // namespace fettle::model
