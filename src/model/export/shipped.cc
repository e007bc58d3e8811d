#include "model/export/shipped.h"

#include <algorithm>

#include "model/export/attributes.h"

namespace fettle::model {
namespace {

struct ShippedRow {
  const char* entity;
  const char* id_attribute;
  const char* agent;
  std::vector<std::string> fields;
};

const std::vector<ShippedRow>& rows() {
  static const std::vector<ShippedRow> rows{
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

/// The blocks of a file in their order. None: one is unknown.
std::optional<std::vector<std::string_view>> blocks_of(const Model& model, const Instance& file,
                                                       std::string_view relation) {
  std::vector<std::pair<std::string_view, std::string_view>> blocks;
  for (const Datum& member : model.members(file, relation)) {
    const Datum* const value =
        member.tag == Tag::instance ? model.value(*member.instance, "value") : nullptr;
    if (value == nullptr || value->tag != Tag::text)
      return std::nullopt;
    const Datum* const key = model.value(*member.instance, "sorting_key");
    blocks.emplace_back(key != nullptr && key->tag == Tag::text ? key->view() : value->view(),
                        value->view());
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> texts;
  for (const auto& [key, text] : blocks)
    texts.push_back(text);
  return texts;
}

/// The content with the blocks before and after it.
Result<FieldAnswer> content_of_file(const Model& model, const Instance& file) {
  const Datum* const content = model.value(file, "content");
  if (content != nullptr && content->tag == Tag::unknown)
    return FieldAnswer{FieldAnswer::Type::unknown, {}};
  std::optional<std::vector<std::string_view>> parts = blocks_of(model, file, "prefix_content");
  const auto after = blocks_of(model, file, "suffix_content");
  const Datum* const separator = model.value(file, "content_seperator");
  if (!parts || !after || separator == nullptr || separator->tag != Tag::text)
    return FieldAnswer{FieldAnswer::Type::unknown, {}};
  const bool has_content = content != nullptr && content->tag == Tag::text;
  if (has_content)
    parts->push_back(content->view());
  parts->insert(parts->end(), after->begin(), after->end());
  if (parts->empty())
    return FieldAnswer{FieldAnswer::Type::value, Value()};
  std::string text;
  for (size_t i = 0; i < parts->size(); ++i)
    text.append(i == 0 ? std::string_view() : separator->view()).append((*parts)[i]);
  return FieldAnswer{FieldAnswer::Type::value, Value(text)};
}

}  // namespace

Declarations shipped_declarations() {
  Declarations declarations;
  for (const ShippedRow& row : rows()) {
    Declaration declaration;
    declaration.entity = row.entity;
    declaration.id_attribute = row.id_attribute;
    declaration.agent = row.agent;
    declaration.fields = row.fields;
    declarations.emplace(row.entity, std::move(declaration));
  }
  declarations.at("fs::File").get.emplace("content", content_of_file);
  return declarations;
}

}  // namespace fettle::model
