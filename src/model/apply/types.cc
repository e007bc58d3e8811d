#include "model/apply/types.h"

#include <array>

#include "kinds/container.h"
#include "kinds/kinds.h"

namespace fettle::model {
namespace {

/// Fields under other names. Missing ones and nulls are left out.
Value renamed(const Value& fields,
              std::initializer_list<std::pair<const char*, const char*>> names) {
  std::vector<Entry> entries;
  for (const auto& [field, attribute] : names)
    if (const Value* value = fields.find(field); value != nullptr && !value->is_null())
      entries.push_back({attribute, *value});
  return Value::dict(std::move(entries));
}

Result<Value> file_attributes(const Value& fields) {
  return renamed(fields, {{"path", "path"},
                          {"content", "content"},
                          {"digest", "digest"},
                          {"mode", "mode"},
                          {"owner", "owner"},
                          {"group", "group"},
                          {"purged", "purged"}});
}

Result<Value> folder_attributes(const Value& fields) {
  return renamed(fields, {{"path", "path"},
                          {"mode", "mode"},
                          {"owner", "owner"},
                          {"group", "group"},
                          {"purged", "purged"}});
}

/// In Inmanta, `target` is the link, and `source` is where it leads.
Result<Value> link_attributes(const Value& fields) {
  return renamed(fields, {{"target", "path"}, {"source", "leads_to"}, {"purged", "purged"}});
}

Result<Value> command_attributes(const Value& fields) {
  return renamed(fields, {{"command", "command"},
                          {"creates", "creates"},
                          {"unless", "unless"},
                          {"onlyif", "onlyif"},
                          {"reload", "reload"},
                          {"reload_only", "reload_only"},
                          {"cwd", "cwd"},
                          {"environment", "environment"},
                          {"path", "path"},
                          {"returns", "returns"},
                          {"timeout", "timeout"},
                          {"skip_on_fail", "skip_on_fail"},
                          {"purged", "purged"}});
}

Result<Value> agent_attributes(const Value& fields) {
  return Value::dict({{"value", renamed(fields, {{"agentname", "agentname"}, {"uri", "uri"}})}});
}

Result<Value> null_attributes(const Value& fields) {
  const Value value =
      renamed(fields, {{"value", "value"}, {"int_value", "int_value"}, {"purged", "purged"}});
  return Value::dict({{"value", value}, {"fail", fields.bool_at("fail")}});
}

/// Values of environment variables and labels are texts.
Value as_texts(const Value& dict) {
  std::vector<Entry> entries;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries()) {
      const bool is_text =
          entry.value.is_text() || entry.value.is_secret() || entry.value.is_unknown();
      entries.push_back({entry.key, is_text ? entry.value : Value(to_text(entry.value))});
    }
  return Value::dict(std::move(entries));
}

Result<Value> container_attributes(const Value& fields) {
  const Value& image = fields.at("image");
  if (fields.bool_at("purged"))
    return Value::dict({{"image", image}, {"purged", true}});
  const Value wait = fields.find("wait") == nullptr   ? Value("2m")
                     : fields.text_at("wait").empty() ? Value()
                                                      : fields.at("wait");
  std::vector<Entry> entries{
      {"ports", TRY(container_ports(fields.at("ports"), wait))},
      {"public_ports", TRY(container_ports(fields.at("public_ports"), Value()))},
      {"env", as_texts(fields.at("env"))},
      {"labels", as_texts(fields.at("labels"))}};
  const Value plain = renamed(fields, {{"image", "image"},
                                       {"entrypoint", "entrypoint"},
                                       {"command", "cmd"},
                                       {"mounts", "bind_mounts"},
                                       {"memory", "memory_max"},
                                       {"cpu", "cpu_max"},
                                       {"restart", "restart"}});
  entries.insert(entries.end(), plain.entries().begin(), plain.entries().end());
  return Value::dict(std::move(entries));
}

const std::array<DeployedType, 12>& table() {
  static const std::array<DeployedType, 12> types{{
      {"fs::File", &file_kind(), "host", true, file_attributes},
      {"fs::ConfigFile", &file_kind(), "host", true, file_attributes},
      {"fs::Directory", &folder_kind(), "host", true, folder_attributes},
      {"fs::DefaultDirectory", &folder_kind(), "host", true, folder_attributes},
      {"fs::Symlink", &link_kind(), "host", true, link_attributes},
      {"exec::Run", &command_kind(), "host", true, command_attributes},
      {"std::File", &file_kind(), "host", true, file_attributes},
      {"std::Directory", &folder_kind(), "host", true, folder_attributes},
      {"std::Symlink", &link_kind(), "host", true, link_attributes},
      {"container::Container", &service_kind(), "engine", true, container_attributes},
      {"std::AgentConfig", &mark_kind(), "host", false, agent_attributes},
      {"std::testing::NullResource", &mark_kind(), "host", true, null_attributes},
  }};
  return types;
}

}  // namespace

const DeployedType* find_deployed_type(std::string_view type) {
  for (const DeployedType& deployed : table())
    if (deployed.name == type)
      return &deployed;
  return nullptr;
}

}  // namespace fettle::model
