#pragma once
/// The common part of exec, request and wait.

#include "packages/instructions/instruction.h"

namespace fettle {

/// The value that a script gets of a recipe's result: `code`, `output` or `body`, `extract.<key>`.
starlark::Value result_value(InstructionCall& call, const Key& key, const Value& recipe);

/// The result lines of what runs a recipe, from its outputs.
std::string exec_line(const Value& outputs);
std::string request_line(const Value& outputs);

/// The name of the service that an argument names: references in it are refused.
std::string service_argument(InstructionCall& call, size_t i);

}  // namespace fettle
