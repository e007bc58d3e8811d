#pragma once
/// One pass over the tokens builds the tree: recursive descent for statements, precedence climbing
/// for expressions. Chains of operators and suffixes are loops, so only real nesting needs native
/// stack, and that is limited.

#include <optional>

#include "starlark/syntax/ast.h"

namespace fettle::starlark {

constexpr int deepest_source = 1'000;

struct ParsedFile {
  FunctionNode* file = nullptr;
  std::optional<SyntaxError> error;
};

ParsedFile parse_file(std::string_view source, Arena& arena, Symbols& symbols,
                      LexerOptions options);
/// The text must be one expression; the tree is a function without parameters that returns it.
ParsedFile parse_expression(std::string_view source, Arena& arena, Symbols& symbols,
                            LexerOptions options);

}  // namespace fettle::starlark
