#pragma once
/// Numbers as in Python: integers without a limit, compared exactly with reals.

#include <compare>
#include <string>

#include "model/values/arena.h"
#include "model/values/datum.h"
#include "model/values/operator.h"

namespace fettle::model {

/// An integer from its digits, in the smallest form.
Datum whole_of(Arena& arena, std::string_view digits);
std::string digits_of(const Datum& whole);
/// The nearest 64-bit integer, if it is larger than that.
int64_t as_integer(const Datum& whole);
/// Infinite: an integer is too large.
double as_float(const Datum& number);
std::partial_ordering order_of(const Datum& a, const Datum& b);
/// `a + b` of integers.
Datum sum(Arena& arena, const Datum& a, const Datum& b);
/// `+`, `-`, `*`, `/`, `%` or `**`. False: `error` says why.
bool compute(Arena& arena, Operator op, const Datum& a, const Datum& b, Datum& value,
             std::string& error);

}  // namespace fettle::model
