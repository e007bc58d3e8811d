#pragma once
/// What a reader of Starlark says is wrong, with its place and the line that it is in.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "starlark/syntax/lexer.h"
#include "starlark/syntax/lines.h"

namespace fettle::starlark {

/// `lines`: of the text.
inline Error syntax_error(const std::string& file, std::string_view text, const Lines& lines,
                          const SyntaxError& problem) {
  const auto [line, column] = lines.at(problem.at);
  Error error = user_error(problem.message, {file, line, column});
  error.excerpt = excerpt(text, line, column);
  return error;
}

}  // namespace fettle::starlark
