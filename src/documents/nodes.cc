#include "documents/nodes.h"

namespace fettle {

Value value_of(const NodeView& view) {
  std::vector<Entry> labels;
  for (const auto& [key, text] : view.node.labels)
    labels.push_back({key, text});
  std::vector<Entry> entries{{"name", view.node.name},
                             {"engine", view.node.engine},
                             {"ready", view.answers},
                             {"schedulable", !view.node.is_cordoned},
                             {"pods", view.pods},
                             {"pulls", view.node.pulls},
                             {"labels", Value::dict(std::move(labels))}};
  if (!view.answers)
    entries.push_back({"why", view.why});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
