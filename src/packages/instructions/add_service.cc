#include "base/text.h"
#include "core/ready_condition.h"
#include "kinds/engine_needs.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "kinds/wait.h"
#include "packages/instructions/service.h"
#include "packages/names.h"
#include "packages/service_config.h"
#include "packages/types.h"
#include "value/json.h"

namespace fettle {
namespace {

/// The ready condition of a config, as a `wait` that begins again whenever the service starts.
Status want_ready(InstructionCall& call, const ServiceState& service, starlark::Value condition) {
  Draft& draft = call.draft;
  const Value recipe =
      TRY(recipe_attributes(draft, call.thread, *starlark::field_of(condition, "recipe")));
  check_recipe(draft, service, recipe);
  const auto text = [&](std::string_view field, std::string_view otherwise) {
    const auto value = starlark::field_of(condition, field);
    return std::string(value && starlark::type_of(*value) == starlark::Type::text
                           ? starlark::text_of(*value)
                           : otherwise);
  };
  const std::string interval = text("interval", "1s"), timeout = text("timeout", "15m");
  WaitFor until;
  until.service = service.key.name;
  until.recipe = TRY(normal_recipe(recipe));
  until.field = text("field", "");
  until.assertion = text("assertion", "");
  until.target =
      TRY(plain_with_holes(draft, call.thread, *starlark::field_of(condition, "target_value")));
  until.interval = interval;
  until.timeout = timeout;
  until.started = Value::deferred({Part(Output{"service", service.key.name, "started"})});
  Resource& ready = draft.add(ready_condition_kind, ready_condition_name(service.key.name).str(),
                              TRY(wait_kind().normalise(write(until))));
  draft.inside(ready, service);
  const Duration longest = TRY(parse_waiting(interval));
  ready.pace = {Wait::exponential, std::min<Duration>(longest, 20ms), longest};
  draft.holds_up(service, ready);
  return {};
}

Result<starlark::Value> interpret_add_service(InstructionCall& call) {
  const starlark::Value service =
      TRY(want_service(call, call.text(0), call.arguments[1], call.flag(2)));
  call.draft.detail("service", call.text(0));
  return service;
}

std::string describe(const Value& arguments) {
  const Value& config = arguments.at("config");
  const Value& image = config.at("image");
  return cat("Adding service with name '", arguments.text_at("name"), "' and image '",
             image.is_text() ? to_text(image)
                             : std::string(image.text_at("image_name", image.text_at("image"))),
             "'");
}

}  // namespace

Result<starlark::Value> want_service(InstructionCall& call, const std::string& name,
                                     starlark::Value config, bool force) {
  Draft& draft = call.draft;
  if (Status fine = check_service_name(name); !fine)
    draft.finding(fine.error().message);
  const ServiceState* before = draft.find_service(name);
  if (before != nullptr && before->wanted)
    draft.finding(cat("the service `", name, "` is added twice, first at ", before->origin));
  const Addition addition = draft.addition(name);
  const Service wanted = TRY(wanted_service(call, name, config));
  const Attributes attributes = TRY(service_kind().normalise(write(wanted)));
  draft.add_once("network", std::string(environment_network), Value::dict({}));
  Resource& resource = draft.add("service", addition.key.name.str(), attributes);
  draft.network(resource);
  if (force || addition.anew)
    resource.redo = Redo::always;
  if (!addition.after.empty())
    resource.needs.push_back({addition.after, false, When::succeeded, Unmet::fail, Bond::refresh});
  // A service that gives way to another one of its name must not be left if the run stops before.
  if (resource.key.name != name)
    resource.leftover = Leftover::remove;
  resource.pace = {Wait::exponential, 5ms, 250ms};
  const ServiceState state{resource.key, wanted.ports.value(), {}, true, false};
  draft.put_service(name, state);
  if (const auto ready = starlark::field_of(config, "ready_conditions");
      ready && !ready->is_unset() && starlark::type_of(*ready) != starlark::Type::none)
    TRY(want_ready(call, state, *ready));
  return service_value(draft, call.thread, name, state);
}

namespace {

constexpr std::string_view add_service_name = "add_service";

}  // namespace

ListedInstruction listed_service(std::string_view name, const Value& config) {
  return {std::string(add_service_name),
          cat(add_service_name, "(name=\"", name, "\", config=", write_json(config), ")"),
          {std::string(name)},
          {},
          {}};
}

Instruction add_service_instruction() {
  return {std::string(add_service_name),
          {{"name", starlark::Want::text},
           {"config", starlark::Want::record, &types::service_config},
           {"force_update?", starlark::Want::boolean}},
          interpret_add_service,
          describe,
          [](const EndedStatement& ended) {
            return cat("Service '", ended.detail("service"), "' added with service UUID '",
                       read_one<&ServiceOutputs::uuid>(ended.outputs("service")), "'");
          },
          {.identity = OverlapRule::Identity::services,
           .depends_on = OverlapRule::DependsOn::mounts,
           .adds_services = true}};
}

}  // namespace fettle
