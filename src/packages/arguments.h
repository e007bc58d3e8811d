#pragma once
/// Arguments of a package, read as Kurtosis reads them.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// A mapping as JSON text for `json.decode`. A JSON object is passed on as it was written; anything
/// else is YAML, by `YamlSchema::go_yaml_v2`. Nothing is trimmed; an empty text and null give `{}`.
/// Errors (`Blame::user`): no mapping, or neither JSON nor YAML. `file` names the source in them.
Result<std::string> arguments_as_json(std::string_view text, std::string_view file);

}  // namespace fettle
