#pragma once
/// Rules for names of environments.

#include <string_view>

#include "base/result.h"

namespace fettle {

/// Error (`Blame::user`): says the rule. Names that are files' names on any system, and words of a
/// command line.
Status check_environment_name(std::string_view name);

}  // namespace fettle
