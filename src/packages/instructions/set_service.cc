#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/instructions/service.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

/// Kurtosis: only these may be set afterwards. Field of the config, then of the attributes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> settable{
    {{"image", "image"},
     {"user", "user"},
     {"labels", "labels"},
     {"tolerations", "tolerations"},
     {"node_selectors", "node_selectors"},
     {"max_cpu", "cpu_max"},
     {"min_cpu", "cpu_min"},
     {"max_memory", "memory_max"},
     {"min_memory", "memory_min"},
     {"privileged", "privileged"},
     {"host_pid_namespace", "host_pid"}}};
constexpr std::array<std::string_view, 3> settable_too{"cpu_allocation", "memory_allocation",
                                                       "bind_mounts"};

bool is_given(starlark::Value config, std::string_view field) {
  const auto value = starlark::field_of(config, field);
  return value && starlark::type_of(*value) != starlark::Type::none;
}

Status check_fields(starlark::Value config) {
  for (const auto& [field, value] : starlark::fields_of(config)) {
    if (!is_given(config, field))
      continue;
    const bool known =
        std::any_of(settable.begin(), settable.end(),
                    [&](const auto& row) { return row.first == field; }) ||
        std::find(settable_too.begin(), settable_too.end(), field) != settable_too.end();
    if (!known)
      return user_error(cat(
          "`", field,
          "` cannot be set afterwards; set_service accepts the image, user, labels, tolerations, "
          "node selectors, cpu, memory, privileged, host pid and bind mounts"));
  }
  return {};
}

/// The wanted service's attributes with those of the config on top, as far as the config has them.
Value merged(const Value& before, const Value& config, starlark::Value given) {
  std::vector<Entry> entries(before.entries().begin(), before.entries().end());
  const auto take = [&](std::string_view attribute) {
    entries.push_back({attribute, config.at(attribute)});
  };
  for (const auto& [field, attribute] : settable)
    if (is_given(given, field))
      take(attribute);
  if (is_given(given, "cpu_allocation"))
    take("cpu_max");
  if (is_given(given, "memory_allocation"))
    take("memory_max");
  if (is_given(given, "bind_mounts"))
    take("bind_mounts");
  take("image_id");
  return Value::dict(std::move(entries));
}

Result<starlark::Value> interpret_set_service(InstructionCall& call) {
  const std::string name = call.text(0);
  Draft& draft = call.draft;
  TRY(check_fields(call.arguments[1]));
  call.draft.detail("service", name);
  ServiceState* service = draft.need_service(name);
  if (service == nullptr)
    return starlark::Value::none();
  const Service changed = TRY(wanted_service(draft, call.thread, name, call.arguments[1]));
  const Value config = TRY(service_kind().normalise(write(changed)));
  if (Resource* wanted = draft.find_resource(service->key)) {
    wanted->attributes = merged(wanted->attributes, config, call.arguments[1]);
    draft.also(service->key);
    return starlark::Value::none();
  }
  const Record* known = draft.find_record(service->key);
  const Value attributes = merged(known->applied->attributes, config, call.arguments[1]);
  Resource& resource = draft.add("service", name, attributes);
  draft.network(resource);
  resource.pace = known->applied->pace;
  service->wanted = true;
  return starlark::Value::none();
}

}  // namespace

Instruction set_service_instruction() {
  return {
      "set_service",
      {{"name", starlark::Want::text}, {"config", starlark::Want::record, &types::service_config}},
      interpret_set_service,
      [](const Value& arguments) {
        return cat("Setting service config of '", arguments.text_at("name"), "'");
      },
      [](const EndedStatement& ended) {
        return cat("Set service config on service '", ended.detail("service"), "'.");
      },
      {.identity = OverlapRule::Identity::services,
       .depends_on = OverlapRule::DependsOn::services,
       .sets_services = true}};
}

}  // namespace fettle
