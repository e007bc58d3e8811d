#pragma once
/// Rules for environment names.

#include <string_view>

#include "base/result.h"

namespace fettle {

/// A name must be a valid file name on any system, and a word of a command line. The error
/// (`Blame::user`) states the rule.
Status check_environment_name(std::string_view name);

}  // namespace fettle
