#pragma once
/// Numbers as Python has them: integers without an end, compared with reals exactly.

#include <compare>
#include <string>

#include "model/values/arena.h"
#include "model/values/datum.h"
#include "model/values/operator.h"

namespace fettle::model {

/// An integer from its digits, in the smallest form.
Datum whole_of(Arena& arena, std::string_view digits);
std::string digits_of(const Datum& whole);
/// Of an integer beyond 64 bits the nearest that is not.
int64_t as_integer(const Datum& whole);
/// Infinite when an integer is too large.
double as_float(const Datum& number);
std::partial_ordering order_of(const Datum& a, const Datum& b);
/// `a + b` of integers.
Datum sum(Arena& arena, const Datum& a, const Datum& b);
/// `+`, `-`, `*`, `/`, `%` or `**`; else `error` says why.
bool compute(Arena& arena, Operator op, const Datum& a, const Datum& b, Datum& value,
             std::string& error);

}  // namespace fettle::model
