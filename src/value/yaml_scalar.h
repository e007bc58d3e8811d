#pragma once
/// What a plain (unquoted) scalar of YAML means.

#include "value/yaml.h"

namespace fettle {

Value plain_scalar(std::string_view text, YamlSchema schema);

}  // namespace fettle
