#pragma once
/// `fettle starlark --repl`: reads statements and expressions, runs them, shows values.

#include <functional>

#include "starlark/starlark.h"

namespace fettle::starlark {

/// Reads until the end of the input. ^C drops what was typed, or ends what runs.
int run_repl(Session& session,
             const std::function<void(const Error&, bool before_running)>& report);

}  // namespace fettle::starlark
