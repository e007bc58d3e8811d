#pragma once
/// Times and durations as values.

#include <string>

#include "starlark/calendar/calendar.h"
#include "starlark/values/objects.h"

namespace fettle::starlark {

struct Vm;
struct Zone;
enum class Op : uint16_t;

constexpr int64_t giga = 1'000'000'000;

Fields fields_of_time(const TimeObject& time);
/// `offset` and `abbreviation` count if there is no zone.
TimeObject* new_time(Vm& vm, int64_t seconds, int64_t nanoseconds, const Zone* zone, int offset = 0,
                     std::string_view abbreviation = {});
Value new_duration(Vm& vm, int64_t nanoseconds);
/// The text as Go prints it.
std::string time_text(const TimeObject& time);
std::string duration_text(int64_t nanoseconds);
/// The duration in units of this many nanoseconds.
inline double duration_in(int64_t nanoseconds, int64_t unit) {
  return double(nanoseconds / unit) + double(nanoseconds % unit) / double(unit);
}
/// `unset` when the operator is not defined for these types.
Value time_binary(Vm& vm, Op op, Value x, Value y);
/// `unset` when there is no such field.
Value time_field(Vm& vm, Value object, std::string_view name);

}  // namespace fettle::starlark
