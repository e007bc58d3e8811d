#pragma once
/// YAML text as a `Tree`, by the schemas of `value/yaml.h`. `<<` merges, an alias names the part
/// that its anchor marks, what is not UTF-8 is an error. Beside what that page says of `pyyaml`:
///
///   * as Idem, which takes timestamps out of PyYAML's loader, it leaves them texts,
///   * `!!binary` becomes a text, `!!set` a dict of nulls, `!!omap` and `!!pairs` stay lists,
///   * a tag that the safe loader does not know is an error. In `core` it counts for nothing, and
///     in `go_yaml_v2` such a scalar is a text.
///
/// Every error has file, line, column and the line of the text.

#include <functional>
#include <vector>

#include "value/tree.h"
#include "value/yaml.h"

namespace fettle {

struct YamlOptions {
  YamlSchema schema = YamlSchema::core;
  Duplicates duplicates = Duplicates::error;
  TreeLimits limits{};
  std::function<Value(Value)> convert{};  ///< what becomes of a scalar; none: it stays
  bool only_first = false;                ///< document; what follows is not read
  /// Is told each tag that is not one of YAML's own, and where what it stands at begins.
  std::function<void(std::string_view tag, Place place)> on_tag{};
};

/// Reads one document; null for an empty text. A second document is an error.
Result<Tree> read_yaml_tree(std::string_view text, std::string_view file,
                            const YamlOptions& reading);
/// Every document of a stream.
Result<std::vector<Tree>> read_yaml_trees(std::string_view text, std::string_view file,
                                          const YamlOptions& reading);

}  // namespace fettle
