#pragma once
/// Facts about a text that its tokens show, before it is parsed.

#include <string>
#include <string_view>
#include <vector>

#include "starlark/syntax/lexer.h"

namespace fettle::starlark {

struct Dialect;

LexerOptions lexer_options(const Dialect& dialect);

/// The names in the `load` statements of a file, in order. Empty: it has something that is no word
/// of the language.
std::vector<std::string> loads_of(std::string_view text, const Dialect& dialect);

/// `(a, b = "text") -> "int"` of the function `name` that a file defines, without comments and on
/// one line. Empty: it has no function of that name. The search ends at something that is no word.
std::string signature_of(std::string_view text, const Dialect& dialect, std::string_view name);

/// Whether a text ends within brackets, within a text of several lines or after a backslash, so
/// that more lines must follow.
bool is_unfinished(std::string_view text, const Dialect& dialect);

}  // namespace fettle::starlark
