#include "documents/deployments.h"

#include "documents/plans.h"

namespace fettle {

Value value_of(const DeployedResource& resource) {
  return Value::dict({{"id", resource.id},
                      {"set", text_or_null(resource.set)},
                      {"state", to_string(resource.state)},
                      {"changed", resource.changed},
                      {"why", resource.why},
                      {"changes", list_of(resource.changes)},
                      {"printed", list_of(resource.printed)},
                      {"origin", resource.origin}});
}

Value value_of(const LeftResource& left) {
  return Value::dict({{"key", value_of(left.key)},
                      {"fate", to_string(left.fate)},
                      {"error", text_or_null(left.error)},
                      {"why", text_or_null(left.why)}});
}

Value summary_of(const ApplyReport& report) {
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
  const Value summary = summary_of(report);
  std::vector<Entry> entries(summary.entries().begin(), summary.entries().end());
  entries.push_back({"resources", list_of(report.resources)});
  entries.push_back({"left", list_of(report.left)});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
