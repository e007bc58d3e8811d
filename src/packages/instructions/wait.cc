#include "kinds/wait.h"
#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/instructions/recipe.h"
#include "packages/names.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_wait(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string name = service_argument(call, 0), field = call.text(2),
                    assertion = call.text(3);
  const std::string interval = call.text(5, "1s"), timeout = call.text(6, "10s");
  TRY(types::check_condition(call.arguments[1], field, assertion, call.arguments[4]));
  const Value recipe = TRY(recipe_attributes(draft, call.thread, call.arguments[1]));
  const Duration longest = TRY(parse_waiting(interval).context("`interval`"));
  TRY(parse_waiting(timeout).context("`timeout`"));
  const std::string action = draft.action_name(name);
  if (const ServiceState* service = draft.need_service(name)) {
    check_recipe(draft, *service, recipe);
    WaitFor until;
    until.service = service->key.name;
    until.recipe = TRY(normal_recipe(recipe));
    until.field = field;
    until.assertion = assertion;
    until.target = TRY(plain_with_holes(draft, call.thread, call.arguments[4]));
    until.interval = interval;
    until.timeout = timeout;
    Resource& wait = draft.add("wait", action, TRY(wait_kind().normalise(write(until))));
    draft.inside(wait, *service);
    wait.pace = {Wait::exponential, std::min<Duration>(longest, 20ms), longest};
    draft.holds_up(*service, wait);
  }
  return result_value(call, draft.key("wait", action), recipe);
}

std::string wait_line(const EndedStatement& ended) {
  const Outputs& result = ended.outputs("wait");
  const WaitOutputs waited = read<WaitOutputs>(result);
  const std::string recipe = has_request_outputs(result) ? request_line(result) : exec_line(result);
  return cat("Wait took ", waited.tries, " tries (", waited.duration,
             " in total). Assertion passed with following:\n", recipe);
}

}  // namespace

Instruction wait_instruction() {
  return {"wait",
          {{"service_name", starlark::Want::text},
           {"recipe", starlark::Want::any},
           {"field", starlark::Want::text},
           {"assertion", starlark::Want::text},
           {"target_value", starlark::Want::any},
           {"interval?", starlark::Want::text},
           {"timeout?", starlark::Want::text}},
          interpret_wait,
          [](const Value& arguments) {
            return cat("Waiting for at most '", arguments.text_at("timeout", "10s"),
                       "' for service '", arguments.text_at("service_name"),
                       "' to reach a certain state");
          },
          wait_line,
          {.depends_on = OverlapRule::DependsOn::services}};
}

}  // namespace fettle
