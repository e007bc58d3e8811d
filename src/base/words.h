#pragma once
/// The words of a command, as a POSIX shell splits them and without anything else that a shell
/// does: quotes and backslashes mean what they mean there, `$`, `;` and `|` mean themselves.

#include <string>
#include <vector>

#include "base/result.h"

namespace fettle {

/// Errors (`Blame::world`): a quote that is not closed, a backslash at the end, no word at all.
Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace fettle
