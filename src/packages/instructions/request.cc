#include "kinds/request.h"
#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/instructions/recipe.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_request(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string name = service_argument(call, 0);
  if (const starlark::RecordType* type = starlark::record_type_of(call.arguments[1]);
      type != &types::get_recipe && type != &types::post_recipe)
    return user_error(
        cat("`recipe` must be a GetHttpRequestRecipe or a PostHttpRequestRecipe, got ",
            starlark::type_name(call.arguments[1])));
  const Value recipe = TRY(recipe_attributes(draft, call.thread, call.arguments[1]));
  const std::string action = draft.action_name(name);
  if (const ServiceState* service = draft.need_service(name)) {
    check_recipe(draft, *service, recipe);
    const ServiceRequest wanted = TRY(wanted_call<ServiceRequest>(call, *service, recipe, 2, 3));
    Resource& request = draft.add("request", action, TRY(request_kind().normalise(write(wanted))));
    draft.inside(request, *service);
    if (recipe.text_at("type") == "post")
      draft.holds_up(*service, request);
  }
  return result_value(call, draft.key("request", action), recipe);
}

}  // namespace

Instruction request_instruction() {
  return {"request",
          {{"service_name", starlark::Want::text},
           {"recipe", starlark::Want::any},
           {"acceptable_codes?", starlark::Want::list},
           {"skip_code_check?", starlark::Want::boolean}},
          interpret_request,
          [](const Value& arguments) {
            const bool post = arguments.at("recipe").find("body") != nullptr;
            return cat("Running '", post ? "POST" : "GET", "' request on service '",
                       arguments.text_at("service_name"), "'");
          },
          [](const EndedStatement& ended) { return request_line(ended.outputs("request")); },
          {.depends_on = OverlapRule::DependsOn::services}};
}

}  // namespace fettle
