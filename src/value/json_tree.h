#pragma once
/// JSON text as a `Tree`, and back.

#include <functional>

#include "value/tree.h"

namespace fettle {

/// Errors as `read_json` words them; a key that occurs twice is one. `convert`: what becomes of a
/// scalar; none: it stays.
Result<Tree> read_json_tree(std::string_view text, std::string_view file,
                            const TreeLimits& limits = {},
                            const std::function<Value(Value)>& convert = {});

/// Writes JSON on one line, with keys in their order. A part that aliases share is written each
/// time.
std::string write_json_tree(const TreeNode& node);

}  // namespace fettle
