#pragma once
/// Reads a file of the model language. Precedence, the loosest first: `? :`, `or`, `and`,
/// comparisons, `+ -`, `* / %`, `**`, `not`, `in`. All binary operators associate to the left.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/syntax/ast.h"
#include "model/values/arena.h"

namespace fettle::model {

/// Called for legal text that is probably not meant.
using Warn = std::function<void(Place at, const std::string& message)>;

/// How deep expressions and statements may nest.
constexpr int max_depth = 1000;

/// `file` is the number in places. `text` must live as long as the tree.
Result<Unit> parse(std::string_view file_name, std::string_view text, uint32_t file, Arena& arena,
                   Symbols& symbols, const Warn& warn);

}  // namespace fettle::model
