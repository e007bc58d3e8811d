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
