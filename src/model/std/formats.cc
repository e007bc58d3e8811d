#include "model/std/formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/text.h"

namespace fettle::model {
namespace {

/// Reads a text from its start to its end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool is_at_end() const { return text_.empty(); }
  bool take_any(std::string_view choices) {
    if (text_.empty() || choices.find(text_[0]) == choices.npos)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Reads a number with exactly this many digits. -1: there is none.
  int digits(size_t count) {
    int number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i >= text_.size() || text_[i] < '0' || text_[i] > '9')
        return -1;
      number = number * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return number;
  }
  bool skip_digits() {
    const size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
    text_.remove_prefix(end);
    return end > 0;
  }

 private:
  std::string_view text_;
};

bool take_date(Cursor& cursor) {
  const int year = cursor.digits(4);
  if (year < 1 || !cursor.take_any("-"))
    return false;
  const int month = cursor.digits(2);
  if (month < 0 || !cursor.take_any("-"))
    return false;
  const int day = cursor.digits(2);
  return day >= 0 && std::chrono::year_month_day(std::chrono::year(year),
                                                 std::chrono::month(static_cast<unsigned>(month)),
                                                 std::chrono::day(static_cast<unsigned>(day)))
                         .ok();
}

bool take_zone(Cursor& cursor) {
  if (cursor.is_at_end() || cursor.take_any("zZ"))
    return true;
  if (!cursor.take_any("+-"))
    return false;
  const int hours = cursor.digits(2);
  cursor.take_any(":");
  const int minutes = cursor.digits(2);
  return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

/// Whether it is a time; `is_midnight`: whether all its parts are zero.
bool take_time(Cursor& cursor, bool* is_midnight = nullptr) {
  const int hours = cursor.digits(2);
  if (hours < 0 || hours > 23 || !cursor.take_any(":"))
    return false;
  const int minutes = cursor.digits(2);
  if (minutes < 0 || minutes > 59)
    return false;
  int seconds = 0;
  if (cursor.take_any(":")) {
    seconds = cursor.digits(2);
    if (seconds < 0 || seconds > 59 || (cursor.take_any(".") && !cursor.skip_digits()))
      return false;
  }
  if (is_midnight != nullptr)
    *is_midnight = hours == 0 && minutes == 0 && seconds == 0;
  return take_zone(cursor);
}

/// Seconds since 1970, or milliseconds if the number is large; within the years 1 to 9999.
std::optional<double> read_seconds(std::string_view text) {
  double number = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  constexpr double most_seconds = 2e10, first = -62'135'596'800, end = 253'402'300'800;
  const double seconds = std::abs(number) > most_seconds ? number / 1000 : number;
  return seconds >= first && seconds < end ? std::optional(seconds) : std::nullopt;
}

bool is_latin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

struct Url {
  std::string scheme;
  std::string_view rest;
};

std::optional<Url> read_scheme(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || !is_latin(text[0]))
    return std::nullopt;
  const std::string_view scheme = text.substr(0, colon);
  for (const char c : scheme)
    if (!is_latin(c) && !is_decimal(c) && c != '+' && c != '-' && c != '.')
      return std::nullopt;
  return Url{lower_case(scheme), text.substr(colon + 1)};
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return text.empty() ||
         (read.ec == std::errc() && read.ptr == text.data() + text.size() && port <= 65535);
}

/// A host whose last label is a number must be an address, as for browsers.
bool is_good_number_host(std::string_view host) {
  std::vector<std::string_view> labels = split(host, '.');
  if (labels.size() > 1 && labels.back().empty())
    labels.pop_back();
  const auto is_number = [](std::string_view label) {
    return !label.empty() && std::all_of(label.begin(), label.end(), is_decimal);
  };
  if (!is_number(labels.back()))
    return true;
  if (labels.size() > 4 || !std::all_of(labels.begin(), labels.end(), is_number))
    return false;
  for (size_t i = 0; i < labels.size(); ++i) {
    uint64_t value = 0;
    const auto read = std::from_chars(labels[i].data(), labels[i].data() + labels[i].size(), value);
    const uint64_t most =
        i + 1 < labels.size() ? 255 : (uint64_t{1} << (8 * (5 - labels.size()))) - 1;
    if (read.ec != std::errc() || value > most)
      return false;
  }
  return true;
}

bool is_authority(std::string_view authority, bool may_be_empty) {
  const size_t at = authority.rfind('@');
  std::string_view host = at == authority.npos ? authority : authority.substr(at + 1);
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == host.npos || !is_address<6>(host.substr(1, end - 1)))
      return false;
    const std::string_view port = host.substr(end + 1);
    return port.empty() || (port[0] == ':' && is_port(port.substr(1)));
  }
  const size_t colon = host.rfind(':');
  if (colon != host.npos && !is_port(host.substr(colon + 1)))
    return false;
  host = host.substr(0, colon);
  if (host.empty())
    return may_be_empty && colon == authority.npos && at == authority.npos;
  return host.find_first_of(" \t\n#<>[]^|\\:%") == host.npos && is_good_number_host(host);
}

/// Schemes that always have a host, however many slashes were written.
bool is_special(std::string_view scheme) {
  constexpr std::array special{"http", "https", "ws", "wss", "ftp"};
  return std::find(special.begin(), special.end(), scheme) != special.end();
}

std::optional<std::string> scheme_of_url(std::string_view text) {
  const std::optional<Url> url = read_scheme(trim(text));
  if (!url)
    return std::nullopt;
  std::string_view rest = url->rest;
  const bool has_authority = rest.starts_with("//");
  if (is_special(url->scheme)) {
    rest.remove_prefix(std::min(rest.find_first_not_of("/\\"), rest.size()));
    if (!is_authority(rest.substr(0, rest.find_first_of("/?#\\")), false))
      return std::nullopt;
  } else if (has_authority) {
    rest.remove_prefix(2);
    if (!is_authority(rest.substr(0, rest.find_first_of("/?#")), true))
      return std::nullopt;
  }
  return url->scheme;
}

bool has_scheme(std::string_view text, std::span<const std::string_view> schemes) {
  const std::optional<std::string> scheme = scheme_of_url(text);
  return scheme && std::find(schemes.begin(), schemes.end(), *scheme) != schemes.end();
}

bool is_domain(std::string_view domain) {
  const std::vector<std::string_view> labels = split(domain, '.');
  constexpr std::array reserved{"test", "local", "localhost", "invalid", "arpa", "onion"};
  if (labels.size() < 2 || domain.size() > 253 ||
      std::find(reserved.begin(), reserved.end(), lower_case(labels.back())) != reserved.end())
    return false;
  const std::string_view last = labels.back();
  if (std::none_of(last.begin(), last.end(), [](char c) { return !is_decimal(c); }))
    return false;
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), [](char c) {
             return is_latin(c) || is_decimal(c) || c == '-' || (c & 0x80) != 0;
           });
  });
}

}  // namespace

bool is_date(std::string_view text) {
  Cursor cursor(text);
  if (take_date(cursor)) {
    bool is_midnight = false;
    return cursor.is_at_end() || (cursor.take_any("tT _") && take_time(cursor, &is_midnight) &&
                                  cursor.is_at_end() && is_midnight);
  }
  constexpr double day = 86'400;
  const std::optional<double> seconds = read_seconds(text);
  return seconds && std::fmod(*seconds, day) == 0;
}

bool is_date_time(std::string_view text) {
  Cursor cursor(text);
  if (take_date(cursor))
    return cursor.is_at_end() ||
           (cursor.take_any("tT _") && take_time(cursor) && cursor.is_at_end());
  return read_seconds(text).has_value();
}

bool is_time(std::string_view text) {
  Cursor cursor(text);
  return take_time(cursor) && cursor.is_at_end();
}

char uuid_version(std::string_view text) {
  std::string digits = replace_all(replace_all(text, "urn:", ""), "uuid:", "");
  while (!digits.empty() && (digits.front() == '{' || digits.front() == '}'))
    digits.erase(0, 1);
  while (!digits.empty() && (digits.back() == '{' || digits.back() == '}'))
    digits.pop_back();
  digits = replace_all(digits, "-", "");
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  if (digits.size() != 32 || !std::all_of(digits.begin(), digits.end(), is_hex))
    return 0;
  const bool has_variant = std::string_view("89abAB").find(digits[16]) != std::string_view::npos;
  return has_variant && digits[12] != '0' ? digits[12] : 'f';
}

bool is_any_url(std::string_view text) { return scheme_of_url(text).has_value(); }
bool is_http_url(std::string_view text) {
  constexpr std::array<std::string_view, 2> schemes{"http", "https"};
  return has_scheme(text, schemes);
}
bool is_postgres_url(std::string_view text) {
  constexpr std::array<std::string_view, 9> schemes{"postgres",
                                                    "postgresql",
                                                    "postgresql+asyncpg",
                                                    "postgresql+pg8000",
                                                    "postgresql+psycopg",
                                                    "postgresql+psycopg2",
                                                    "postgresql+psycopg2cffi",
                                                    "postgresql+py-postgresql",
                                                    "postgresql+pygresql"};
  return has_scheme(text, schemes) && text.find("://") + 3 < text.size();
}
bool is_redis_url(std::string_view text) {
  constexpr std::array<std::string_view, 2> schemes{"redis", "rediss"};
  return has_scheme(text, schemes);
}

bool is_email(std::string_view text) {
  if (const size_t open = text.find('<'); open != text.npos && text.ends_with('>'))
    text = text.substr(open + 1, text.size() - open - 2);
  const size_t at = text.rfind('@');
  if (at == text.npos || at == 0)
    return false;
  const std::string_view local = text.substr(0, at);
  constexpr std::string_view others = "!#$%&'*+-/=?^_`{|}~.";
  return local.front() != '.' && local.back() != '.' && local.find("..") == local.npos &&
         std::all_of(local.begin(), local.end(),
                     [&](char c) {
                       return is_latin(c) || is_decimal(c) || (c & 0x80) != 0 ||
                              others.find(c) != others.npos;
                     }) &&
         is_domain(text.substr(at + 1));
}

bool is_name_email(std::string_view text) { return is_email(text); }

}  // namespace fettle::model
