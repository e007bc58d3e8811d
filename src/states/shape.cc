#include "states/shape.h"

#include <charconv>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "base/time.h"
#include "states/reference.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

/// -1: it is no number.
double seconds_of(const Value& given) {
  return given.is_real()      ? given.real()
         : given.is_integer() ? static_cast<double>(given.integer().value_or(-1))
                              : -1;
}

bool are_seconds(const Value& given) {
  const double seconds = seconds_of(given);
  return seconds >= 0 && seconds <= longest_seconds;  // false for NaN
}

bool is_duration(const Value& given) {
  return are_seconds(given) ||
         (given.is_text() && parse_duration(given.text()).value_or(Duration(-1)) >= Duration(0));
}

bool is_between(const Value& given, int64_t least, int64_t most) {
  const std::optional<int64_t> number = given.is_integer() ? given.integer() : std::nullopt;
  return number && *number >= least && *number <= most;
}

/// Whether it is an octal number. The digits of an integer are meant octal, too.
bool is_octal(const Value& given, size_t most_digits) {
  std::string digits = given.is_integer() ? given.integer_digits()
                       : given.is_text()  ? given.text().str()
                                          : std::string();
  if (digits.starts_with("0o"))
    digits.erase(0, 2);
  while (digits.size() > most_digits && digits[0] == '0')
    digits.erase(0, 1);
  return !digits.empty() && digits.size() <= most_digits &&
         digits.find_first_not_of("01234567") == digits.npos;
}

bool is_user(const Value& given) {
  constexpr std::string_view never_in_names(":/\n\0", 4);
  return is_between(given, 0, UINT32_MAX) ||
         (given.is_text() && !given.text().empty() &&
          given.text().view().find_first_of(never_in_names) == std::string_view::npos);
}

bool is_reference(const Value& given) { return given.is_text() && may_refer(given.text()); }

/// Whether all items of a list fit; with `is_alone_good`, a value without a list may fit, too.
bool all_fit(const Value& given, bool is_alone_good,
             const std::function<bool(const Value&)>& fits) {
  const auto is_good = [&](const Value& item) { return is_reference(item) || fits(item); };
  return given.is_list() ? std::ranges::all_of(given.items(), is_good)
                         : is_alone_good && is_good(given);
}

/// Whether it is a token as HTTP defines it.
bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != others.npos;
  });
}

bool are_headers(const Value& given) {
  constexpr std::string_view ends_line("\r\n\0", 3);
  return given.is_dict() && std::ranges::all_of(given.entries(), [&](const Entry& header) {
           return is_token(header.key) &&
                  (!header.value.is_text() ||
                   header.value.text().view().find_first_of(ends_line) == std::string_view::npos);
         });
}

bool is_port(std::string_view digits) {
  int port = 0;
  const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), port);
  return problem == std::errc() && end == digits.end() && port > 0 && port <= 65535;
}

/// Whether a URL names a server: `http://HOST`, and perhaps a valid port.
bool is_url(const Value& given) {
  std::string_view rest = given.is_text() ? given.text().view() : std::string_view();
  const size_t slashes = rest.find("://");
  if (rest.substr(0, slashes) != "http" && rest.substr(0, slashes) != "https")
    return false;
  rest = rest.substr(slashes + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(rest.rfind('@') + 1);  // removes nothing if there is none
  const size_t colon = rest.rfind(':');
  if (colon == rest.npos || rest.find(']', colon) != rest.npos)
    return !rest.empty();
  return colon > 0 && (colon + 1 == rest.size() || is_port(rest.substr(colon + 1)));
}

bool are_variables(const Value& given) {
  return all_fit(given, true, [](const Value& dict) {
    return dict.is_dict() && std::ranges::all_of(dict.entries(), [](const Entry& entry) {
             const std::string_view name = entry.key;
             return !name.empty() && name.find('=') == name.npos && name.find('\0') == name.npos;
           });
  });
}

std::string json_shown(const Value& given) {
  if (given.is_real() && !std::isfinite(given.real()))
    return std::isnan(given.real()) ? ".nan" : given.real() < 0 ? "-.inf" : ".inf";
  return clipped(write_json(given), 200);
}

}  // namespace

std::string complaint(Shape shape, const Value& told) {
  const Value given = reveal(told);  // a hidden value has a shape, too
  const auto unless = [&](bool fits, std::string_view wanted) {
    return fits ? std::string() : cat("must be ", wanted, ", not ", json_shown(told));
  };
  switch (shape) {
    case Shape::any:
      return {};
    case Shape::text:
      return unless(given.is_text() && !given.text().empty(), "a string");
    case Shape::dict:
      return unless(given.is_dict(), "a dictionary");
    case Shape::list:
      return unless(given.is_list(), "a list");
    case Shape::seconds:
      return unless(are_seconds(given), "a number of seconds");
    case Shape::time_limit:
      return unless(are_seconds(given) && seconds_of(given) > 0, "a number of seconds above 0");
    case Shape::duration:
      return unless(is_duration(given), "seconds or a duration such as `2m`");
    case Shape::count:
      return unless(is_between(given, 1, INT64_MAX), "a whole number from 1 on");
    case Shape::mode:
      return unless(is_octal(given, 4), "octal digits such as '0644'");
    case Shape::umask:
      return unless(is_octal(given, 3), "octal digits such as '022'");
    case Shape::user:
      return unless(is_user(given), "a name or a number");
    case Shape::exit_codes:
      return unless(
          all_fit(given, false, [](const Value& code) { return is_between(code, 0, 255); }),
          "a list of exit codes from 0 to 255");
    case Shape::statuses:
      return unless(
          all_fit(given, true, [](const Value& status) { return is_between(status, 100, 599); }),
          "a code such as 200, or a list of them");
    case Shape::method:
      return unless(given.is_text() && is_token(given.text()), "a method such as `GET`");
    case Shape::headers:
      return unless(are_headers(given), "a dictionary of names and lines of text");
    case Shape::url:
      return unless(is_url(given), "a URL such as http://localhost:8080/");
    case Shape::variables:
      return unless(are_variables(given),
                    "a dictionary whose keys are names of variables, or a list of such");
    case Shape::refs:
      return unless(all_fit(given, true,
                            [](const Value& ref) { return ref.is_text() && !ref.text().empty(); }),
                    "a ref, or a list of refs");
    case Shape::restart:
      return unless(given == Value("always") || given == Value("no"), "`always` or `no`");
    case Shape::outcome:
      return unless(given.is_bool() || given == Value("Random"), "true, false or `Random`");
  }
  return {};
}

}  // namespace fettle::states
