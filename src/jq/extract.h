#pragma once
/// `extract` of a recipe, as Kurtosis does it: a jq program of gojq 0.12.19 on what a service
/// answered.
///
///   * several results are a list; nulls among them are left out, and so is an error;
///   * a number without a fraction is an integer, an integer beyond 64 bits a text;
///   * so is a number that `fromjson` read and with which nothing was computed: as it was written.
///
/// There are no modules, no variables of the environment, no further inputs; local time is UTC.

#include <string_view>

#include "base/budget.h"
#include "base/result.h"
#include "value/value.h"

namespace fettle::jq {

/// Checks that there is such a program. An error (`Blame::user`) says what is wrong, and where.
Status check(std::string_view program);

enum class Input {
  text,  ///< the text is the input, a string
  json   ///< it is the JSON of the input
};
/// Errors (`Blame::world`): the text is no UTF-8 or no JSON; the program fails or has no result; it
/// takes more than the limits allow.
Result<Value> extract(std::string_view program, std::string_view text, Input input,
                      const Budget::Limits& limits);

}  // namespace fettle::jq
