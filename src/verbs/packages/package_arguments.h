#pragma once
/// The arguments of a package, from several places.

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

/// One JSON text of all parts and of `sets` (`a.b=value`, the value is YAML): of two values for one
/// key the later counts, dictionaries are merged. `notice` is told which keys were given again.
/// Errors (`Blame::user`): a part is no mapping, a set has no `=`.
Result<std::string> merged_arguments(std::span<const ArgumentsPart> parts,
                                     std::span<const std::string> sets,
                                     const std::function<void(const std::string&)>& notice);

}  // namespace fettle
