#pragma once
/// Texts of times and durations, as Go prints them.

#include <string>

#include "starlark/eval/objects.h"

namespace fettle::starlark {

struct Vm;
enum class Op : uint16_t;

std::string time_text(const TimeObject& time);
std::string duration_text(int64_t nanoseconds);
/// In units of so many nanoseconds.
inline double duration_in(int64_t nanoseconds, int64_t unit) {
  return double(nanoseconds / unit) + double(nanoseconds % unit) / double(unit);
}
/// `unset` when the operator is not defined for these types.
Value time_binary(Vm& vm, Op op, Value x, Value y);
/// `unset` when there is no such field.
Value time_field(Vm& vm, Value object, std::string_view name);

}  // namespace fettle::starlark
