#include "model/export/shipped.h"

namespace fettle::model {
namespace {

struct Row {
  const char* entity;
  const char* id_attribute;
  const char* agent;
  std::vector<std::string> fields;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows{
      {"std::AgentConfig", "agentname", "agent", {"agentname", "autostart", "uri"}},
      {"std::testing::NullResource",
       "name",
       "agentname",
       {"name", "agentname", "value", "int_value", "fail"}},
      {"fs::File", "path", "host.name", {"path", "content", "mode", "owner", "group", "reload"}},
      {"fs::Directory", "path", "host.name", {"path", "mode", "owner", "group"}},
      {"fs::Symlink", "target", "host.name", {"source", "target", "reload"}},
      {"exec::Run",
       "command",
       "host.name",
       {"command", "creates", "cwd", "environment", "onlyif", "path", "reload", "reload_only",
        "returns", "timeout", "unless", "skip_on_fail"}},
      {"container::Container",
       "name",
       "host.name",
       {"name", "image", "entrypoint", "command", "env", "labels", "ports", "public_ports",
        "mounts", "memory", "cpu", "restart", "wait"}},
  };
  return rows;
}

}  // namespace

Declarations shipped_declarations() {
  Declarations declarations;
  for (const Row& row : rows()) {
    Declaration declaration;
    declaration.entity = row.entity;
    declaration.id_attribute = row.id_attribute;
    declaration.agent = row.agent;
    declaration.fields = row.fields;
    declarations.emplace(row.entity, std::move(declaration));
  }
  return declarations;
}

}  // namespace fettle::model
