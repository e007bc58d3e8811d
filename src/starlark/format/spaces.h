#pragma once
/// How many spaces stand before a token that does not begin its line.

#include "starlark/format/parts.h"

namespace fettle::starlark::layout {

/// `is_complex`: the token is in a subscript whose parts are more than names and numbers, which
/// gets spaces around its colons.
int spaces_before(const Part& token, bool is_complex);

/// Whether the subscript matters for a token.
bool asks_for_subscript(const Part& token);

}  // namespace fettle::starlark::layout
