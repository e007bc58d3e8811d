#pragma once
/// Lays a file of Starlark out as black 23.9.1 lays out Python, which `kurtosis lint` runs and public
/// packages are laid out by; later ones have other rules. Four spaces, lines of 88 columns, double
/// quotes, a comma behind the last of several items that have a line each. Comments are kept, and
/// what a file says stays the same: the result is parsed, and its tree is compared.
///
///     const std::string text = TRY(laid_out("main.star", text));
///
/// The result laid out again is the same.

#include <string>
#include <string_view>

#include "base/result.h"
#include "starlark/syntax/lexer.h"

namespace fettle::starlark {

/// Errors (`Blame::user`): of syntax; nested too deeply; `# fmt: off` within brackets. `Blame::bug`:
/// the result would say something else.
Result<std::string> laid_out(const std::string& file, std::string_view text);

}  // namespace fettle::starlark
