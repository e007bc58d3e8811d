#include "kinds/exec.h"
#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/instructions/recipe.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_exec(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string name = service_argument(call, 0);
  const Value recipe = TRY(recipe_attributes(draft, call.thread, call.arguments[1]));
  const std::string action = draft.action_name(name);
  const ServiceState* service = draft.need_service(name);
  if (service != nullptr) {
    const Exec wanted = TRY(wanted_call<Exec>(call, *service, recipe, 2, 3));
    Resource& exec = draft.add("exec", action, TRY(exec_kind().normalise(write(wanted))));
    draft.inside(exec, *service);
    draft.holds_up(*service, exec);
  }
  return result_value(call, draft.key("exec", action), recipe);
}

}  // namespace

Instruction exec_instruction() {
  return {"exec",
          {{"service_name", starlark::Want::text},
           {"recipe", starlark::Want::record, &types::exec_recipe},
           {"acceptable_codes?", starlark::Want::list},
           {"skip_code_check?", starlark::Want::boolean}},
          interpret_exec,
          [](const Value& arguments) {
            return cat("Executing command on service '", arguments.text_at("service_name"), "'");
          },
          [](const EndedStatement& ended) { return exec_line(ended.outputs("exec")); },
          {.depends_on = OverlapRule::DependsOn::services}};
}

}  // namespace fettle
