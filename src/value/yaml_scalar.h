#pragma once
/// What a scalar of YAML means.

#include <optional>

#include "value/yaml.h"

namespace fettle {

/// A plain (unquoted) one.
Value plain_scalar(std::string_view text, YamlSchema schema);

/// A plain one in the words of PyYAML's resolver and constructors; nothing: a text.
std::optional<Value> pyyaml_scalar(std::string_view text);

/// One with a tag such as `tag:yaml.org,2002:int`. An error is worded as PyYAML's.
Result<Value> pyyaml_tagged(std::string_view text, std::string_view tag);

}  // namespace fettle
