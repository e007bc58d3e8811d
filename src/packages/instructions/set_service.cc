#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/instructions/service.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

template <auto member>
void take(Service& to, const Service& from) {
  to.*member = from.*member;
}

struct Settable {
  std::string_view field;  ///< of the config
  void (*take)(Service& to, const Service& from);
};

/// Kurtosis: only these may be set afterwards.
constexpr std::array<Settable, 14> settable{{{"image", take<&Service::image>},
                                             {"user", take<&Service::user>},
                                             {"labels", take<&Service::labels>},
                                             {"tolerations", take<&Service::tolerations>},
                                             {"node_selectors", take<&Service::node_selectors>},
                                             {"max_cpu", take<&Service::cpu_max>},
                                             {"min_cpu", take<&Service::cpu_min>},
                                             {"max_memory", take<&Service::memory_max>},
                                             {"min_memory", take<&Service::memory_min>},
                                             {"privileged", take<&Service::privileged>},
                                             {"host_pid_namespace", take<&Service::host_pid>},
                                             {"cpu_allocation", take<&Service::cpu_max>},
                                             {"memory_allocation", take<&Service::memory_max>},
                                             {"bind_mounts", take<&Service::bind_mounts>}}};

bool is_given(starlark::Value config, std::string_view field) {
  const auto value = starlark::field_of(config, field);
  return value && starlark::type_of(*value) != starlark::Type::none;
}

Status check_fields(starlark::Value config) {
  for (const auto& [field, value] : starlark::fields_of(config)) {
    if (!is_given(config, field))
      continue;
    if (std::ranges::find(settable, field, &Settable::field) == settable.end())
      return user_error(cat(
          "`", field,
          "` cannot be set afterwards; set_service accepts the image, user, labels, tolerations, "
          "node selectors, cpu, memory, privileged, host pid and bind mounts"));
  }
  return {};
}

/// The wanted service with what the config has on top.
Attributes merged(const Attributes& before, const Service& config, starlark::Value given) {
  Service made = read<Service>(before);
  for (const Settable& row : settable)
    if (is_given(given, row.field))
      row.take(made, config);
  made.image_id = config.image_id;
  return write(made);
}

Result<starlark::Value> interpret_set_service(InstructionCall& call) {
  const std::string name = call.text(0);
  Draft& draft = call.draft;
  TRY(check_fields(call.arguments[1]));
  call.draft.detail("service", name);
  ServiceState* service = draft.need_service(name);
  if (service == nullptr)
    return starlark::Value::none();
  const Service changed = TRY(wanted_service(call, name, call.arguments[1]));
  const Service config = read<Service>(TRY(service_kind().normalise(write(changed))));
  if (Resource* wanted = draft.find_resource(service->key)) {
    wanted->attributes = merged(wanted->attributes, config, call.arguments[1]);
    draft.also(service->key);
    return starlark::Value::none();
  }
  const Record* known = draft.find_record(service->key);
  const Attributes attributes = merged(known->applied->attributes, config, call.arguments[1]);
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
