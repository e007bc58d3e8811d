#pragma once
/// Findings about a template before it runs.

#include "template/jinja/jinja.h"
#include "template/jinja/node.h"

namespace fettle::jinja {

/// Error: a filter or a test that does not exist. As in Jinja2, one directly in an `if` statement
/// or a conditional expression is found only when it is reached; the bodies of loops, macros and
/// other scopes therein are not excepted.
Status check_names(const Tree& tree, const Environment& environment);

}  // namespace fettle::jinja
