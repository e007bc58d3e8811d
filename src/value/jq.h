#pragma once
/// jq expressions over JSON, by libjq, which is loaded when it is needed first. Programs are
/// compiled once and kept.

#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// The first result of a jq program on a JSON text; it knows nothing of our variables and files,
/// and takes as long as it takes. Text that is no JSON is taken as a JSON text
/// value itself. Errors (`Blame::user`): the program does not compile; (`Blame::world`): it fails
/// on this input or gives no result, or libjq is missing.
Result<Value> run_jq(std::string_view expression, std::string_view text);

}  // namespace fettle
