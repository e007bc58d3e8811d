#include "base/text.h"
#include "packages/instructions/recipe.h"
#include "packages/service_config.h"

namespace fettle {
namespace {

/// Fetching is reported once, and again when the service was recreated.
void tell(InstructionCall& call, const std::string& subject, std::string message,
          const ServiceState* service) {
  Resource& told = call.draft.add("print", call.draft.action_name(subject),
                                  Value::dict({{"message", std::move(message)}}));
  told.driver = "host";
  if (service != nullptr)
    call.draft.inside(told, *service);
}

Result<starlark::Value> interpret_one(InstructionCall& call) {
  const std::string name = service_argument(call, 0);
  const ServiceState* found = call.draft.need_service(name);
  const ServiceState missing{call.draft.key("service", name), Value::dict({}), {}, false, false};
  tell(call, name, cat("Fetched service '", name, "'"), found);
  return service_value(call.draft, call.thread, name, found == nullptr ? missing : *found);
}

Result<starlark::Value> interpret_all(InstructionCall& call) {
  std::vector<starlark::Value> services;
  for (const std::string& name : call.draft.services_so_far())
    services.push_back(
        service_value(call.draft, call.thread, name, *call.draft.find_service(name)));
  tell(call, "services", cat("Fetched ", services.size(), " services"), nullptr);
  return call.thread.heap().list(services);
}

}  // namespace

Instruction get_service_instruction() {
  return {"get_service",
          {{"name", starlark::Want::text}},
          interpret_one,
          [](const Value& arguments) {
            return cat("Fetching service '", arguments.text_at("name"), "'");
          },
          nullptr,
          {.depends_on = OverlapRule::DependsOn::services}};
}

Instruction get_services_instruction() {
  return {"get_services", {}, interpret_all, [](const Value&) {
            return std::string("Fetching services");
          }};
}

}  // namespace fettle
