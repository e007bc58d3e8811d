#pragma once
/// The layout of the files of packages.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// A file of Starlark as it is to be laid out (`starlark/format/format.h`); errors as there.
Result<std::string> module_layout(const std::string& file, std::string_view text);

}  // namespace fettle
