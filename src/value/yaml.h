#pragma once
/// YAML text to `Value`, by a schema: readers differ in the meaning of a plain scalar.
///
///   core        YAML 1.2 core, for our own files; a key that occurs twice is an error
///   go_yaml_v2  as Go's yaml.v2 2.4.0 reads it and its JSON tells it: y/yes/on and n/no/off are
///               booleans, `010` is octal, `1:20` and timestamps stay text; of an integer beyond 64
///               bits the leading 17 digits count, `1.0` and `1e18` are integers, `1e400` is a
///               text,
///               `.inf` an error; `<<` overrides what stands before it. Only the first document
///               of `read_yaml` counts. Here a key that occurs twice is an error.
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

/// Reads one document; null for an empty text. A second document is an error, except in
/// `go_yaml_v2`.
Result<Value> read_yaml(std::string_view text, std::string_view file, YamlSchema schema);
/// Every document of a stream.
Result<std::vector<Value>> read_yaml_documents(std::string_view text, std::string_view file,
                                               YamlSchema schema);

/// Block style, keys sorted, texts quoted where the core schema would read something else.
std::string write_yaml(const Value& value);

}  // namespace fettle
