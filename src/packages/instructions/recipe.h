#pragma once
/// The common part of exec, request and wait.

#include "kinds/recipe.h"
#include "packages/instructions/instruction.h"

namespace fettle {

/// The value that a script gets of a recipe's result: `code`, `output` or `body`, `extract.<key>`.
starlark::Value result_value(InstructionCall& call, const Key& key, const Value& recipe);

/// What exec and request have in common: `codes` and `skip` are the places of their arguments.
template <typename Call>
Result<Call> wanted_call(InstructionCall& call, const ServiceState& service, const Value& recipe,
                         size_t codes, size_t skip) {
  Call wanted;
  wanted.service = service.key.name;
  wanted.recipe = TRY(normal_recipe(recipe));
  if (Value given = TRY(call.codes(codes)); !given.is_null())
    wanted.acceptable_codes = std::move(given);
  wanted.skip_code_check = call.flag(skip);
  return wanted;
}

/// The result lines of what runs a recipe, from its outputs.
std::string exec_line(const Outputs& outputs);
std::string request_line(const Outputs& outputs);

/// The name of the service that an argument names: references in it are refused.
std::string service_argument(InstructionCall& call, size_t i);

}  // namespace fettle
