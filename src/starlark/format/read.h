#pragma once
/// Reads a file that the parser accepts as a tree of parts.

#include <optional>

#include "starlark/format/parts.h"
#include "starlark/syntax/lexer.h"

namespace fettle::starlark::layout {

/// How deep brackets and blocks may be nested to be laid out.
constexpr int deepest_layout = 200;

struct ReadTree {
  Part* file = nullptr;
  std::optional<SyntaxError> error;
};

/// The text must end with a line feed and have no carriage returns, and outlive the parts.
ReadTree read_tree(std::string_view text, Parts& parts, const LexerOptions& options);

}  // namespace fettle::starlark::layout
