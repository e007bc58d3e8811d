#include <chrono>
#include <cmath>

#include "jq/civil.h"
#include "jq/natives.h"

namespace fettle::jq {
namespace {

Moment moment_of_number(double number) {
  return {clamped(number), static_cast<int64_t>((number - std::floor(number)) * 1e9)};
}

double number_of_moment(const Moment& moment) {
  return static_cast<double>(moment.second) + static_cast<double>(moment.nanosecond) / 1e9;
}

/// Year, month, day, hour, minute, second, weekday, day of the year; all but the day count from 0.
Json broken_down(double number) {
  Moment moment = moment_of_number(number);
  const Civil civil = civil_of(moment);
  return Json::list(
      {Json::integer(civil.year), Json::integer(civil.month), Json::integer(civil.day),
       Json::integer(civil.hour), Json::integer(civil.minute),
       Json::real(static_cast<double>(civil.second) + static_cast<double>(civil.nanosecond) / 1e9),
       Json::integer(civil.weekday), Json::integer(civil.day_of_year - 1)});
}

/// The moment for which such a list stands. Missing fields are 0.
std::optional<Moment> moment_of_list(const Json::List& items) {
  constexpr size_t fields = 8, second = 5;
  std::array<int64_t, fields> numbers{};
  int64_t nanosecond = 0;
  for (size_t i = 0; i < std::min(items.size(), fields); ++i) {
    const std::optional<int64_t> number = to_integer(items[i]);
    const std::optional<double> real = to_real(items[i]);
    if (!number || (i == second && !real))
      return std::nullopt;
    numbers[i] = i == second ? clamped(*real) : *number;
    if (i == second)
      nanosecond = static_cast<int64_t>((*real - std::floor(*real)) * 1e9);
  }
  return moment_of({.year = numbers[0],
                    .month = numbers[1],
                    .day = numbers[2],
                    .hour = numbers[3],
                    .minute = numbers[4],
                    .second = numbers[second],
                    .nanosecond = nanosecond});
}

/// UTC is the only time.
struct Local {
  std::string_view gmtime, strftime;
};
constexpr Local utc{"gmtime", "strftime"}, local{"localtime", "strflocaltime"};

template <const Local& names>
Answer broken_down_time(const Json& input, Arguments) {
  const std::optional<double> number = to_real(input);
  return number ? Answer(broken_down(*number)) : not_for(names.gmtime, input);
}

constexpr std::string_view no_time = "expected an array of 8 numbers";

Answer make_time(const Json& input, Arguments) {
  if (!input.is_list())
    return not_for("mktime", input);
  const std::optional<Moment> moment = moment_of_list(input.items());
  if (!moment)
    return fail("mktime cannot be applied to ", preview(input), ": ", no_time);
  return Json::real(number_of_moment(*moment));
}

template <const Local& names>
Answer formatted(const Json& given_input, Arguments given) {
  const std::optional<double> number = to_real(given_input);
  const Json input = number ? broken_down(*number) : given_input;
  if (!input.is_list() || !given[0].is_text())
    return not_for(names.strftime, input, given[0]);
  const std::optional<Moment> moment = moment_of_list(input.items());
  if (!moment)
    return fail(names.strftime, "(", preview(given[0]), ") cannot be applied to ", preview(input),
                ": ", no_time);
  return Json::text(format_time(civil_of(*moment), given[0].text()));
}

Answer parsed(const Json& input, Arguments given) {
  if (!input.is_text() || !given[0].is_text())
    return not_for("strptime", input, given[0]);
  const tl::expected<Moment, std::string> moment = parse_time(input.text(), given[0].text());
  if (!moment)
    return fail("strptime(", preview(given[0]), ") cannot be applied to ", preview(input), ": ",
                moment.error());
  // Go's zero time.
  if (number_of_moment(*moment) == number_of_moment(moment_of({.year = 1})))
    return not_for("strptime", input, given[0]);
  return broken_down(number_of_moment(*moment));
}

Answer now(const Json&, Arguments) {
  const std::chrono::duration<double> since = std::chrono::system_clock::now().time_since_epoch();
  return Json::real(since.count());
}

}  // namespace

std::span<const Native> time_functions() {
  static const Native table[] = {
      {"gmtime", 0, broken_down_time<utc>},
      {"localtime", 0, broken_down_time<local>},
      {"mktime", 0, make_time},
      {"now", 0, now},
      {"strflocaltime", 1, formatted<local>},
      {"strftime", 1, formatted<utc>},
      {"strptime", 1, parsed},
  };
  return table;
}

}  // namespace fettle::jq
