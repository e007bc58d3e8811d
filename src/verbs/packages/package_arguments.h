#pragma once
/// Merges the arguments of a package from several places.

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

struct ArgumentsPart {
  std::string from;  ///< a file, a URL, or empty: the command line
  std::string text;  ///< JSON or YAML
};

/// One JSON text of all parts and of `sets` (`a.b=value`, where the value is YAML). The later of
/// two values for one key counts; dictionaries are merged. `notice` is told which keys were given
/// twice. Errors (`Blame::user`): a part is no mapping, or a set has no `=`.
Result<std::string> merged_arguments(std::span<const ArgumentsPart> parts,
                                     std::span<const std::string> sets,
                                     const std::function<void(const std::string&)>& notice);

}  // namespace fettle
