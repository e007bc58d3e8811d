/// `time`: instants in a zone and durations, with starlark-go's names and Go's layouts.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "base/time.h"
#include "starlark/calendar/calendar.h"
#include "starlark/calendar/zone.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/times.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

constexpr std::string_view rfc3339 = "2006-01-02T15:04:05Z07:00";

/// The instant of local fields in a zone.
int64_t instant_of(const Fields& f, const Zone* zone) {
  const int64_t local = days_of(f.year, f.month, f.day) * 86400 + int64_t{f.hour} * 3600 +
                        int64_t{f.minute} * 60 + f.second;
  if (zone == nullptr)
    return local - f.offset;
  int64_t seconds = local - zone->at(local).offset;
  return local - zone->at(seconds).offset;
}

/// How many seconds east of UTC `name` means in a zone. None: it means nothing there.
std::optional<int> offset_named(const Zone& zone, std::string_view name, int64_t local) {
  std::optional<int> any;
  for (const Zone::Change& change : zone.changes) {
    if (change.abbreviation != name)
      continue;
    if (zone.at(local - change.offset).abbreviation == name)
      return zone.at(local - change.offset).offset;
    any = any ? any : change.offset;
  }
  return any;
}

/// A text that was read, in the zone that it names itself, else in `zone`.
TimeObject* placed(Vm& vm, const ParsedTime& parsed, const Zone* zone) {
  const Fields& f = parsed.fields;
  if (parsed.is_utc)
    return new_time(vm, instant_of(f, utc()), f.nanosecond, utc());
  if (parsed.has_offset) {
    const int64_t seconds = instant_of(f, nullptr);
    const Zone::Change& then = zone->at(seconds);
    if (then.offset == f.offset && (f.zone.empty() || f.zone == then.abbreviation))
      return new_time(vm, seconds, f.nanosecond, zone);
    return new_time(vm, seconds, f.nanosecond, nullptr, f.offset, f.zone);
  }
  if (f.zone.empty())
    return new_time(vm, instant_of(f, zone), f.nanosecond, zone);
  const int64_t local = instant_of(f, utc());
  if (const std::optional<int> offset = offset_named(*zone, f.zone, local))
    return new_time(vm, local - *offset, f.nanosecond, zone);
  // Nobody knows this name: it can only stand for hours behind `GMT`.
  int hours = 0;
  if (f.zone.starts_with("GMT") && f.zone.size() > 4)
    std::from_chars(f.zone.data() + (f.zone[3] == '+' ? 4 : 3), f.zone.data() + f.zone.size(),
                    hours);
  return new_time(vm, local, f.nanosecond, nullptr, hours * 3600, f.zone);
}

const Zone* zone_at(Vm& vm, const Value& name) {
  vm.ticks -= 8;
  const Zone* zone = find_zone(view_of(name));
  if (zone == nullptr)
    vm.fail_with("unknown time zone ", view_of(name));
  return zone;
}

Value time_from_timestamp(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 2))
    return Value::error();
  int64_t n[2] = {0, 0};
  for (uint32_t i = 0; i < a.count; ++i) {
    if (!want_int64(vm, a, i, n[i]))
      return Value::error();
  }
  return Value::object(new_time(vm, n[0], n[1], utc()));
}

Value time_is_valid_timezone(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  return Value::boolean(find_zone(view_of(a.positional[0])) != nullptr);
}

Value time_now(Vm& vm, const Arguments& a) {
  if (vm.is_spec() && !want_positional(vm, a, 0, 0))
    return Value::error();
  if (!vm.session.session->now)
    return vm.fail("now: the current time is not available here");
  const int64_t now = vm.session.session->now().time_since_epoch().count();
  return Value::object(new_time(vm, 0, now, utc()));
}

/// Go's message about a text that is no duration.
std::string duration_problem(std::string_view text) {
  std::string shown;
  quote_text(shown, text);
  const std::string invalid = cat("invalid duration ", shown);
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+'))
    rest.remove_prefix(1);
  constexpr std::string_view digits = "0123456789";
  static constexpr std::string_view units[] = {"ns", "us", "\u00b5s", "\u03bcs",
                                               "ms", "s",  "m",       "h"};
  while (!rest.empty()) {
    const size_t number = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view amount = rest.substr(0, number);
    if (amount.find_first_of(digits) == amount.npos || amount.find('.') != amount.rfind('.'))
      return invalid;
    rest.remove_prefix(number);
    const std::string_view unit = rest.substr(0, rest.find_first_of("0123456789."));
    if (unit.empty())
      return cat("missing unit in duration ", shown);
    if (std::find(std::begin(units), std::end(units), unit) == std::end(units)) {
      std::string quoted;
      quote_text(quoted, unit);
      return cat("unknown unit ", quoted, " in duration ", shown);
    }
    rest.remove_prefix(unit.size());
  }
  return invalid;
}

Value time_parse_duration(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const Value x = a.positional[0];
  if (is_kind(x, Kind::duration))
    return x;
  if (!is_text(x))
    return vm.fail_with("parse_duration: for parameter 1: got ", type_name_of(x),
                        ", want a duration, string, or int");
  if (!vm.charge(view_of(x).size() / 4))
    return Value::error();
  const Result<Duration> parsed = parse_duration(view_of(x));
  if (!parsed) {
    return vm.fail_with("parse_duration: for parameter 1: time: ", duration_problem(view_of(x)));
  }
  return new_duration(vm, parsed->count());
}

Value time_parse_time(Vm& vm, const Arguments& a) {
  Value given[3];
  static constexpr const char* names[] = {"x", "format?", "location?"};
  static constexpr ParameterType types[] = {ParameterType::text, ParameterType::text,
                                            ParameterType::text};
  if (!want_named(vm, a, names, given, types))
    return Value::error();
  const Zone* zone = utc();
  if (!given[2].is_unset() && (zone = zone_at(vm, given[2])) == nullptr)
    return Value::error();
  const std::string_view layout = given[1].is_unset() ? rfc3339 : view_of(given[1]);
  if (!vm.charge((layout.size() + view_of(given[0]).size()) * steps_per_layout_byte))
    return Value::error();
  ParsedTime parsed;
  std::string problem;
  if (!parse_layout(layout, view_of(given[0]), parsed, problem))
    return vm.fail(std::move(problem));
  return Value::object(placed(vm, parsed, zone));
}

Value time_time(Vm& vm, const Arguments& a) {
  static constexpr const char* names[] = {"year?",   "month?",  "day?",        "hour?",
                                          "minute?", "second?", "nanosecond?", "location?"};
  static constexpr ParameterType types[] = {
      ParameterType::int64, ParameterType::int64, ParameterType::int64, ParameterType::int64,
      ParameterType::int64, ParameterType::int64, ParameterType::int64, ParameterType::text};
  Value given[8];
  if (!want_named(vm, a, names, given, types))
    return Value::error();
  if (a.count > 0)
    return vm.fail("time: unexpected positional arguments");
  int64_t n[7] = {};
  for (size_t i = 0; i < 7; ++i) {
    if (given[i].is_unset())
      continue;
    if (!to_int64(given[i], n[i]) || std::abs(n[i]) > 3'000'000'000)
      return vm.fail("time: date out of range");
  }
  const Zone* zone = utc();
  if (!given[7].is_unset() && (zone = zone_at(vm, given[7])) == nullptr)
    return Value::error();
  if (std::abs(n[0]) > 30'000 || std::abs(n[1]) > 100'000 || std::abs(n[2]) > 10'000'000)
    return vm.fail("time: date out of range");
  const int64_t local = days_of(n[0], n[1], n[2]) * 86400 + n[3] * 3600 + n[4] * 60 + n[5];
  const int64_t guess = local - zone->at(local).offset;
  return Value::object(new_time(vm, local - zone->at(guess).offset, n[6], zone));
}

Value method_format(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  const std::string_view layout = view_of(a.positional[0]);
  if (!vm.charge(layout.size() * steps_per_layout_byte))
    return Value::error();
  return make_text(vm.heap(), format_layout(fields_of_time(*as<TimeObject>(a.self)), layout));
}

Value method_in_location(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  const Zone* zone = zone_at(vm, a.positional[0]);
  if (zone == nullptr)
    return Value::error();
  const auto* time = as<TimeObject>(a.self);
  return Value::object(new_time(vm, time->seconds, time->nanoseconds, zone));
}

constexpr MethodEntry time_table[] = {{"format", method_format},
                                      {"in_location", method_in_location}};
constexpr MethodEntry functions[] = {{"from_timestamp", time_from_timestamp},
                                     {"is_valid_timezone", time_is_valid_timezone},
                                     {"now", time_now},
                                     {"parse_duration", time_parse_duration},
                                     {"parse_time", time_parse_time},
                                     {"time", time_time}};

}  // namespace

std::span<const MethodEntry> time_methods() { return time_table; }
std::span<const MethodEntry> duration_methods() { return {}; }

Value make_time_module(Heap& heap) {
  const auto span = [&](int64_t nanoseconds) {
    auto* duration = heap.make<DurationObject>(Kind::duration);
    duration->nanoseconds = nanoseconds;
    return Value::object(duration);
  };
  const NamedValue constants[] = {{"nanosecond", span(1)},          {"microsecond", span(1'000)},
                                  {"millisecond", span(1'000'000)}, {"second", span(giga)},
                                  {"minute", span(60 * giga)},      {"hour", span(3600 * giga)}};
  return make_library(heap, "time", functions, constants);
}

}  // namespace fettle::starlark
