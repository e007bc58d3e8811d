#pragma once
/// YAML text to `Value`, by a schema: what a plain scalar means differs between those who read it.
///
///   core        YAML 1.2 core, for our own files; a key that occurs twice is an error
///   go_yaml_v2  as Go's yaml.v2 reads into plain values: yes/no/on/off are booleans, `010` is
///               octal, an integer beyond 64 bits stays text, timestamps stay text, the last of two
///               equal keys counts
///   pyyaml      as PyYAML's safe loader: yes/no/on/off, octal, base 60, the last key counts
///   idem        the same, but an integer may begin with zeros: `0644` is 644
///
/// Anchors and aliases are resolved (an alias bomb is an error), `<<` merges, keys become texts.
/// Every error has file, line and column.

#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

enum class YamlSchema { core, go_yaml_v2, pyyaml, idem };

/// One document; null for an empty text. A second document is an error.
Result<Value> read_yaml(std::string_view text, std::string_view file, YamlSchema schema);
/// Every document of a stream.
Result<std::vector<Value>> read_yaml_documents(std::string_view text, std::string_view file,
                                               YamlSchema schema);

/// Block style, keys sorted, texts quoted where the core schema would read something else.
std::string write_yaml(const Value& value);

}  // namespace fettle
