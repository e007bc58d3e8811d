#pragma once
/// Names that a file may use without binding them: those given with the text, those of the session,
/// those of the language.

#include "starlark/eval/vm.h"
#include "starlark/resolve/resolve.h"

namespace fettle::starlark {

/// Both must live while the input is used.
ResolveInput resolve_input(const Session::State& session, std::string_view file,
                           std::string_view source, std::span<const NamedValue> names);

}  // namespace fettle::starlark
