#pragma once
/// The tree of a JMESPath expression; `jmespath_parse.cc` makes it, `jmespath.cc` reads it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "value/value.h"

namespace fettle::jmespath {

struct Node {
  enum class Type : uint8_t {
    current,            ///< `@`, and where nothing is said
    field,              ///< `text`
    literal,            ///< `value`
    index,              ///< `numbers[0]`
    slice,              ///< `numbers`: start, stop, step
    chain,              ///< the second of what the first is
    projection,         ///< the second of each item of the first
    value_projection,   ///< … of each value of a dict
    filter_projection,  ///< … of each item for which the third holds
    flatten,
    either,
    both,
    negation,
    comparison,  ///< by `text`
    list,
    dict,      ///< `keys` of `parts`
    call,      ///< of the function `text`
    reference  ///< `&expression`
  };
  Type type = Type::current;
  std::string text{};
  Value value{};
  std::vector<std::optional<int64_t>> numbers{};
  std::vector<Name> keys{};
  std::vector<std::shared_ptr<const Node>> parts{};
};

using NodePointer = std::shared_ptr<const Node>;

/// Errors (`Blame::user`), with the column.
Result<NodePointer> parse(std::string_view text);

}  // namespace fettle::jmespath
