#pragma once
/// Resolves every name of a program.

#include <functional>
#include <vector>

#include "model/program/program.h"

namespace fettle::model {

/// Resolves every name; all definitions must be declared. `warn`, which may be empty, is called for
/// variables that hide others. Adds at most one failure.
void resolve_program(Program& program, const std::function<void(const Error&)>& warn,
                     std::vector<Failure>& failures);

}  // namespace fettle::model
