#pragma once
/// jq expressions of packages, evaluated in a process of their own: an expression may loop for ever
/// or ask for all the memory, and it must not find our variables and files.

#include <optional>
#include <stop_token>
#include <string_view>

#include "base/time.h"
#include "value/value.h"

namespace fettle {

/// As `run_jq`, within `limit` and a gigabyte. Errors also: it takes more than that, a stop is
/// asked for.
Result<Value> run_jq_apart(std::string_view expression, std::string_view text,
                           const std::stop_token& stop, Duration limit = 10s);

/// The other side, when the program was started with the word that says so; the exit code.
std::optional<int> evaluate_if_asked(int argc, char** argv);

}  // namespace fettle
