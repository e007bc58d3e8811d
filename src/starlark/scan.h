#pragma once
/// Facts about a text that its tokens tell, before it is parsed.

#include <string>
#include <string_view>
#include <vector>

#include "starlark/syntax/lexer.h"

namespace fettle::starlark {

struct Dialect;

LexerOptions lexer_options(const Dialect& dialect);

/// The names that the `load` statements of a file give, in order; empty when it holds what is no
/// word of the language.
std::vector<std::string> loads_of(std::string_view text, const Dialect& dialect);

/// `(a, b = "text") -> "int"` of the function `name` that a file defines, without comments and on
/// one line; empty when it has none of that name. Words that are none end the search.
std::string signature_of(std::string_view text, const Dialect& dialect, std::string_view name);

/// Whether a text ends within brackets, within a text of several lines or after a backslash, so
/// that more lines must follow.
bool is_unfinished(std::string_view text, const Dialect& dialect);

}  // namespace fettle::starlark
