#pragma once
/// The common part of `add_service`, `add_services` and `set_service`.

#include "packages/instructions/instruction.h"

namespace fettle {

/// Wants a service as a config says, with its ready conditions; the answer is its `Service` value.
Result<starlark::Value> want_service(InstructionCall& call, const std::string& name,
                                     starlark::Value config, bool force);

}  // namespace fettle
