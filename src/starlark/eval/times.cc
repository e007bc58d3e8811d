/// Times and durations as values: how they are made, what operators do with them, their fields and
/// texts.

#include "starlark/eval/times.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"
#include "starlark/calendar/zone.h"
#include "starlark/eval/ops.h"

namespace fettle::starlark {
namespace {

/// An operand as nanoseconds: a duration, or an integer that is small enough.
int64_t nanoseconds_of(Value v) { return as<DurationObject>(v)->nanoseconds; }

bool add_overflows(int64_t a, int64_t b, int64_t& sum) {
  return __builtin_add_overflow(a, b, &sum);
}

}  // namespace

Fields fields_of_time(const TimeObject& time) {
  Fields f;
  const int64_t local = time.seconds + time.offset;
  int64_t day = local / 86400, rest = local % 86400;
  if (rest < 0) {
    rest += 86400;
    --day;
  }
  set_date(f, day);
  f.hour = int(rest / 3600);
  f.minute = int(rest / 60 % 60);
  f.second = int(rest % 60);
  f.nanosecond = time.nanoseconds;
  f.weekday = int(((day % 7) + 11) % 7);
  f.offset = time.offset;
  const auto* zone = static_cast<const Zone*>(time.zone);
  f.zone = zone != nullptr ? zone->at(time.seconds).abbreviation : std::string(time.abbreviation);
  return f;
}

TimeObject* new_time(Vm& vm, int64_t seconds, int64_t nanoseconds, const Zone* zone, int offset,
                     std::string_view abbreviation) {
  seconds += nanoseconds / giga;
  nanoseconds %= giga;
  if (nanoseconds < 0) {
    nanoseconds += giga;
    --seconds;
  }
  auto* time = vm.heap().make<TimeObject>(Kind::time);
  time->flags |= Object::frozen;
  time->seconds = seconds;
  time->nanoseconds = static_cast<int32_t>(nanoseconds);
  time->zone = zone;
  time->offset = zone != nullptr ? zone->at(seconds).offset : offset;
  const size_t length = std::min(abbreviation.size(), sizeof(time->abbreviation) - 1);
  std::copy_n(abbreviation.data(), length, time->abbreviation);
  time->abbreviation[length] = '\0';
  return time;
}

Value new_duration(Vm& vm, int64_t nanoseconds) {
  auto* duration = vm.heap().make<DurationObject>(Kind::duration);
  duration->flags |= Object::frozen;
  duration->nanoseconds = nanoseconds;
  return Value::object(duration);
}

std::string time_text(const TimeObject& time) {
  return format_layout(fields_of_time(time), "2006-01-02 15:04:05.999999999 -0700 MST");
}

std::string duration_text(int64_t nanoseconds) { return to_string(Duration(nanoseconds)); }

/// A duration divided by a number. If the result is no duration, it is the smallest one, as in Go.
static Value divided(Vm& vm, int64_t nanoseconds, double by) {
  if (by == 0)
    return vm.fail("time.duration division by zero");
  const double result = double(nanoseconds) / by;
  return new_duration(vm, std::fabs(result) < 9.2e18 ? int64_t(result) : INT64_MIN);
}

static Value span_too_large(Vm& vm) { return vm.fail("time.duration out of range"); }

static Value moved(Vm& vm, Value time, int64_t by) {
  const auto* t = as<TimeObject>(time);
  return Value::object(new_time(vm, t->seconds + by / giga, t->nanoseconds + by % giga,
                                static_cast<const Zone*>(t->zone), t->offset, t->abbreviation));
}

static Value time_add(Vm& vm, Value x, Value y) {
  const bool x_span = is_kind(x, Kind::duration), y_span = is_kind(y, Kind::duration);
  if (is_kind(x, Kind::time) && y_span)
    return moved(vm, x, nanoseconds_of(y));
  if (x_span && is_kind(y, Kind::time))
    return moved(vm, y, nanoseconds_of(x));
  if (!x_span || !y_span)
    return Value::unset();
  int64_t n = 0;
  return add_overflows(nanoseconds_of(x), nanoseconds_of(y), n) ? span_too_large(vm)
                                                                : new_duration(vm, n);
}

static Value time_subtract(Vm& vm, Value x, Value y) {
  const bool x_time = is_kind(x, Kind::time), y_time = is_kind(y, Kind::time);
  const bool x_span = is_kind(x, Kind::duration), y_span = is_kind(y, Kind::duration);
  int64_t n = 0;
  if (x_time && y_span)
    return moved(vm, x, nanoseconds_of(y) == INT64_MIN ? INT64_MAX : -nanoseconds_of(y));
  if (x_span && y_time)
    return moved(vm, y, nanoseconds_of(x) == INT64_MIN ? INT64_MAX : -nanoseconds_of(x));
  if (x_time && y_time) {
    const auto* a = as<TimeObject>(x);
    const auto* b = as<TimeObject>(y);
    int64_t seconds = 0;
    if (__builtin_sub_overflow(a->seconds, b->seconds, &seconds) ||
        __builtin_mul_overflow(seconds, giga, &n) ||
        add_overflows(n, a->nanoseconds - b->nanoseconds, n))
      return span_too_large(vm);
    return new_duration(vm, n);
  }
  if (!x_span || !y_span)
    return Value::unset();
  return __builtin_sub_overflow(nanoseconds_of(x), nanoseconds_of(y), &n) ? span_too_large(vm)
                                                                          : new_duration(vm, n);
}

static Value time_divide(Vm& vm, Value x, Value y) {
  const bool x_span = is_kind(x, Kind::duration), y_span = is_kind(y, Kind::duration);
  int64_t n = 0;
  if (!x_span && !is_float(x))
    return y_span && is_int(x) ? vm.fail("unsupported operation") : Value::unset();
  if (!x_span)  // a number divided by a duration is the duration divided by the number
    std::swap(x, y);
  if (is_int(y) && !to_int64(y, n))
    return vm.fail("int value out of range (want signed 64-bit value)");
  if (is_int(y) && n != 0)
    return nanoseconds_of(x) == INT64_MIN && n == -1 ? x : new_duration(vm, nanoseconds_of(x) / n);
  if (y_span && !is_float(y)) {
    if (nanoseconds_of(y) == 0)
      return vm.fail("time.duration division by zero");
    return make_float(vm.heap(), double(nanoseconds_of(x)) / double(nanoseconds_of(y)));
  }
  if (is_int(y) || is_float(y))
    return divided(vm, nanoseconds_of(x), is_int(y) ? double(n) : float_of(y));
  return Value::unset();
}

Value time_binary(Vm& vm, Op op, Value x, Value y) {
  const bool x_span = is_kind(x, Kind::duration), y_span = is_kind(y, Kind::duration);
  int64_t n = 0;
  switch (op) {
    case Op::add:
      return time_add(vm, x, y);
    case Op::subtract:
      return time_subtract(vm, x, y);
    case Op::multiply: {
      const Value span = x_span ? x : y, factor = x_span ? y : x;
      if (!is_kind(span, Kind::duration) || !is_int(factor))
        break;
      if (!to_int64(factor, n))
        return vm.fail("int value out of range (want signed 64-bit value)");
      return __builtin_mul_overflow(nanoseconds_of(span), n, &n) ? span_too_large(vm)
                                                                 : new_duration(vm, n);
    }
    case Op::divide:
      return time_divide(vm, x, y);
    case Op::floor_divide:
      if (x_span && y_span) {
        const int64_t a = nanoseconds_of(x), b = nanoseconds_of(y);
        if (b == 0)
          return vm.fail("time.duration division by zero");
        if (a == INT64_MIN && b == -1)
          return span_too_large(vm);
        return make_int(vm.heap(), a / b);  // toward zero, as in Go
      }
      break;
    default:
      break;
  }
  return Value::unset();
}

Value time_field(Vm& vm, Value object, std::string_view name) {
  if (is_kind(object, Kind::duration)) {
    const int64_t n = nanoseconds_of(object);
    if (name == "hours")
      return make_float(vm.heap(), duration_in(n, 3600 * giga));
    if (name == "minutes")
      return make_float(vm.heap(), duration_in(n, 60 * giga));
    if (name == "seconds")
      return make_float(vm.heap(), duration_in(n, giga));
    if (name == "milliseconds")
      return make_int(vm.heap(), n / 1'000'000);
    if (name == "microseconds")
      return make_int(vm.heap(), n / 1'000);
    if (name == "nanoseconds")
      return make_int(vm.heap(), n);
    return Value::unset();
  }
  const auto* time = as<TimeObject>(object);
  vm.ticks -= 2;
  const Fields f = fields_of_time(*time);
  const std::pair<std::string_view, int64_t> all[] = {{"year", f.year},
                                                      {"month", f.month},
                                                      {"day", f.day},
                                                      {"hour", f.hour},
                                                      {"minute", f.minute},
                                                      {"second", f.second},
                                                      {"nanosecond", f.nanosecond},
                                                      {"unix", time->seconds}};
  for (const auto& [known, n] : all) {
    if (known == name)
      return make_int(vm.heap(), n);
  }
  if (name == "unix_nano")
    return make_int(vm.heap(), i64(u64(time->seconds) * u64(giga) + u64(time->nanoseconds)));
  return Value::unset();
}

}  // namespace fettle::starlark
