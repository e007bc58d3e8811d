#include "kinds/transition.h"
#include "base/text.h"
#include "kinds/service.h"
#include "packages/instructions/recipe.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_transition(InstructionCall& call, std::string_view kind) {
  const std::string name = service_argument(call, 0);
  call.draft.detail("service", name);
  ServiceState* service =
      kind == "remove" ? call.draft.need_removable(name) : call.draft.need_service(name);
  if (service == nullptr)
    return starlark::Value::none();
  if (kind == "remove" && call.draft.is_made_anew(name, *service)) {
    call.draft.also(service->key);
  } else {
    Resource& transition = call.draft.add(kind, call.draft.action_name(name),
                                          Value::dict({{"service", service->key.name}}));
    call.draft.inside(transition, *service);
    call.draft.holds_up(*service, transition);
  }
  if (kind == "remove")
    service->leave();
  return starlark::Value::none();
}

Instruction make(std::string name, Result<starlark::Value> (*interpret)(InstructionCall&),
                 std::string (*describe)(const Value&),
                 std::string (*result)(const EndedStatement&)) {
  return {std::move(name), {{"name", starlark::Want::text}}, interpret, describe,
          result,          {.is_resolvable = false}};
}

}  // namespace

Instruction remove_service_instruction() {
  return make(
      "remove_service", [](InstructionCall& call) { return interpret_transition(call, "remove"); },
      [](const Value& arguments) {
        return cat("Removing service '", arguments.text_at("name"), "'");
      },
      [](const EndedStatement& ended) {
        const Name uuid = ended.has("remove")
                              ? read_one<&TransitionOutputs::uuid>(ended.outputs("remove"))
                              : read_one<&ServiceOutputs::uuid>(ended.outputs("service"));
        return cat("Service '", ended.detail("service"), "' with service UUID '", uuid,
                   "' removed");
      });
}
Instruction start_service_instruction() {
  return make(
      "start_service", [](InstructionCall& call) { return interpret_transition(call, "start"); },
      [](const Value& arguments) {
        return cat("Starting service '", arguments.text_at("name"), "'");
      },
      [](const EndedStatement& ended) {
        return cat("Service '", ended.detail("service"), "' started");
      });
}
Instruction stop_service_instruction() {
  return make(
      "stop_service", [](InstructionCall& call) { return interpret_transition(call, "stop"); },
      [](const Value& arguments) {
        return cat("Stopping service '", arguments.text_at("name"), "'");
      },
      [](const EndedStatement& ended) {
        return cat("Service '", ended.detail("service"), "' stopped");
      });
}

}  // namespace fettle
