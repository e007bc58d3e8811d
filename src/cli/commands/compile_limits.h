#pragma once
/// `--steps` and `--memory` of commands that compile a model or render templates.

#include "cli/command.h"
#include "model/compile.h"

namespace fettle {

std::vector<CommandOption> compile_limit_options();

/// What such a flag says, or 0 when it is not given. Error (`Blame::user`): no positive number.
Result<uint64_t> limit_asked(const Face& face, const std::string& name);

/// Puts what is asked for in place of the defaults of a compile.
Status read_limits(const Face& face, model::CompileOptions& options);

}  // namespace fettle
