#pragma once
/// Code between `# fmt: off` and `# fmt: on`, and statements with `# fmt: skip` behind them, stand
/// as they were written.

#include <optional>

#include "starlark/format/parts.h"
#include "starlark/syntax/lexer.h"

namespace fettle::starlark::layout {

/// Puts tokens in the place of such code. Error: a remark stands where it cannot be obeyed.
std::optional<SyntaxError> keep_unformatted(Part* file, std::string_view text, Parts& parts);

}  // namespace fettle::starlark::layout
