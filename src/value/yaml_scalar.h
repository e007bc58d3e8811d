#pragma once
/// What a scalar of YAML means.

#include <optional>

#include "value/yaml.h"

namespace fettle {

/// A plain (unquoted) one.
Value plain_scalar(std::string_view text, YamlSchema schema);

/// Whether a schema is PyYAML's or a variant of it.
constexpr bool is_pyyaml(YamlSchema schema) {
  return schema == YamlSchema::pyyaml || schema == YamlSchema::idem;
}

/// A plain one in the words of PyYAML's resolver and constructors; nothing: a text.
std::optional<Value> pyyaml_scalar(std::string_view text, YamlSchema schema);

/// One with a tag such as `tag:yaml.org,2002:int`. An error is worded as PyYAML's.
Result<Value> pyyaml_tagged(std::string_view text, std::string_view tag, YamlSchema schema);

}  // namespace fettle
