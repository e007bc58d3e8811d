#pragma once
/// Resolves every name of a program.

#include <functional>
#include <vector>

#include "model/program/program.h"

namespace fettle::model {

/// Finds what every name stands for; all definitions are declared. `warn`, which may be empty, is
/// told of variables that hide others. At most one failure is added.
void resolve_program(Program& program, const std::function<void(const Error&)>& warn,
                     std::vector<Failure>& failures);

}  // namespace fettle::model
