#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/instructions/service.h"
#include "packages/types.h"

namespace fettle {
namespace {

/// It is one instruction, so the services do not wait for each other.
Result<starlark::Value> interpret_add_services(InstructionCall& call) {
  std::vector<std::string> names;
  std::vector<starlark::Value> services;
  std::vector<Value> listed;
  for (const auto& [name, config] : starlark::entries_of(call.arguments[0])) {
    if (starlark::type_of(name) != starlark::Type::text ||
        starlark::record_type_of(config) != &types::service_config)
      return user_error("`configs` must map service names to ServiceConfig values");
    names.emplace_back(starlark::text_of(name));
    services.push_back(TRY(want_service(call, names.back(), config, call.flag(1))
                               .context(cat("service `", names.back(), "`"))));
    listed.emplace_back(names.back());
  }
  call.draft.detail("services", Value::list(std::move(listed)));
  std::vector<starlark::NamedValue> entries;
  for (size_t i = 0; i < names.size(); ++i)
    entries.push_back({names[i], services[i]});
  return call.thread.heap().dict(entries);
}

std::string describe_services(const Value& arguments) {
  std::vector<std::string> names;
  for (const Entry& entry : arguments.at("configs").entries())
    names.push_back(cat("'", entry.key, "'"));
  return cat("Adding ", names.size(), " services with names ", join(names, ","));
}

/// Kurtosis: the heading counts the new services only, and all are listed.
std::string services_line(const EndedStatement& ended) {
  std::string line = cat("Successfully added the following '", ended.created, "' services:");
  for (const Key& key : ended.statement.keys)
    if (key.kind == "service")
      line += cat("\n  Service '", service_name(key), "' added with UUID '",
                  read_one<&ServiceOutputs::uuid>(outputs_of(key, ended.known)), "'");
  return line;
}

}  // namespace

Instruction add_services_instruction() {
  return {"add_services",
          {{"configs", starlark::Want::dict}, {"force_update?", starlark::Want::boolean}},
          interpret_add_services,
          describe_services,
          services_line,
          {.identity = OverlapRule::Identity::services_among,
           .depends_on = OverlapRule::DependsOn::mounts,
           .adds_services = true}};
}

}  // namespace fettle
