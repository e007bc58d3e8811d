#pragma once
/// `--steps` and `--memory` of commands that compile a model or render templates.

#include "cli/command.h"
#include "model/compile.h"

namespace fettle {

std::vector<CommandOption> compile_limit_options();

/// Puts what is asked for in place of the defaults of a compile. Error (`Blame::user`): no positive
/// number.
Status read_limits(const Face& face, model::CompileOptions& options);

}  // namespace fettle
