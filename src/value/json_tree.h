#pragma once
/// JSON text as a `Tree`.

#include "value/tree.h"

namespace fettle {

/// Errors as `read_json` words them; a key that occurs twice is one.
Result<Tree> read_json_tree(std::string_view text, std::string_view file,
                            const TreeLimits& limits = {});

}  // namespace fettle
