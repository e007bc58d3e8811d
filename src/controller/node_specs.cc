#include "controller/node_specs.h"

namespace fettle {

Value value_of(const NodeSpec& node) {
  std::vector<Entry> labels;
  for (const auto& [key, text] : node.labels)
    labels.push_back({key, text});
  return Value::dict({{"engine", node.engine},
                      {"labels", Value::dict(std::move(labels))},
                      {"pulls", node.pulls},
                      {"cordoned", node.is_cordoned},
                      {"draining", node.is_draining},
                      {"lost", node.is_lost}});
}

NodeSpec node_in(const Entry& entry) {
  NodeSpec node{.name = entry.key.str(), .engine = std::string(entry.value.text_at("engine"))};
  const Value& labels = entry.value.at("labels");
  if (labels.is_dict())
    for (const Entry& label : labels.entries())
      node.labels.emplace(label.key.str(), to_text(label.value));
  node.pulls = static_cast<int>(entry.value.integer_at("pulls", 2));
  node.is_cordoned = entry.value.bool_at("cordoned");
  node.is_draining = entry.value.bool_at("draining");
  node.is_lost = entry.value.bool_at("lost");
  return node;
}

Result<std::vector<NodeSpec>> nodes_of(Store& store) {
  std::vector<NodeSpec> nodes;
  const auto note = TRY(store.note(Name(), nodes_note));
  if (note && note->is_dict())
    for (const Entry& entry : note->entries())
      nodes.push_back(node_in(entry));
  return nodes;
}

std::string mark_of(const std::vector<NodeSpec>& nodes) {
  std::vector<Entry> entries;
  for (const NodeSpec& node : nodes)
    entries.push_back({node.name, value_of(node)});
  return to_string(Value::dict(std::move(entries)).digest());
}

Result<std::optional<NodeSpec>> node_of(Store& store, std::string_view name) {
  for (NodeSpec& node : TRY(nodes_of(store)))
    if (node.name == name)
      return std::optional(std::move(node));
  return std::optional<NodeSpec>();
}

}  // namespace fettle
