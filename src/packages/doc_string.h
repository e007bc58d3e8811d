#pragma once
/// The documentation of a package's function `run`, as the catalogue of Kurtosis reads it, whose
/// rules `kurtosis lint -c` checks: below `Args:` each argument has a line `NAME (TYPE): text`, and
/// the type, if there is one, is string, bool, int, json, list, dict, `list[TYPE]` or
/// `dict[TYPE, TYPE]`. A `dict` says what it holds.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle {

/// What is wrong with the documentation of `run` in a file; the place is that of the function.
/// Error: of syntax.
Status check_doc_string(const std::string& file, std::string_view text);

/// The lines below `Args:` that name an argument, as far as the colon.
std::vector<std::string> documented_arguments(std::string_view doc);

}  // namespace fettle
