#include "documents/deployments.h"

#include "documents/plans.h"

namespace fettle {

Value resource_value(const DeployedResource& resource) {
  return Value::dict({{"id", resource.id},
                      {"set", resource.set.empty() ? Value() : Value(resource.set)},
                      {"state", to_string(resource.state)},
                      {"changed", resource.changed},
                      {"why", resource.why},
                      {"changes", changes_value(resource.changes)},
                      {"printed", Value::list({resource.printed.begin(), resource.printed.end()})},
                      {"origin", resource.origin}});
}

Value left_value(const LeftResource& left) {
  return Value::dict({{"key", to_string(left.key)},
                      {"fate", to_string(left.fate)},
                      {"error", left.error.empty() ? Value() : Value(left.error)},
                      {"why", left.why.empty() ? Value() : Value(left.why)}});
}

Value summary_value(const ApplyReport& report) {
  std::vector<Entry> states;
  for (int i = 0; i <= static_cast<int>(DeployState::available); ++i) {
    const auto state = static_cast<DeployState>(i);
    states.push_back({to_string(state), report.count(state)});
  }
  return Value::dict({{"version", report.version},
                      {"states", Value::dict(std::move(states))},
                      {"success", report.exit_code() == 0},
                      {"interrupted", report.is_stopped},
                      {"orphans", report.orphans},
                      {"seconds", static_cast<double>(report.took.count()) / 1e9}});
}

Value document_of(const ApplyReport& report) {
  std::vector<Value> resources, left;
  for (const DeployedResource& resource : report.resources)
    resources.push_back(resource_value(resource));
  for (const LeftResource& one : report.left)
    left.push_back(left_value(one));
  const Value summary = summary_value(report);
  std::vector<Entry> entries(summary.entries().begin(), summary.entries().end());
  entries.push_back({"resources", Value::list(std::move(resources))});
  entries.push_back({"left", Value::list(std::move(left))});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
