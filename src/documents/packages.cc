#include "documents/packages.h"

#include "base/text.h"
#include "documents/errors.h"
#include "documents/plans.h"
#include "documents/services.h"

namespace fettle {
namespace {

/// The names of an instruction's members, each made once.
struct InstructionNames {
  Name name = "name", text = "text", arguments = "arguments", description = "description",
       position = "position", why = "why", status = "status", result = "result",
       seconds = "seconds", changes = "changes", file = "file", line = "line", column = "column";
};

const InstructionNames& instruction_names() {
  static const InstructionNames names;
  return names;
}

Value place_of(std::string_view origin) {
  const auto parts = split(origin, ':');
  if (parts.size() < 3)
    return Value::dict({{"file", origin}});
  const std::string_view file = origin.substr(
      0, origin.size() - parts[parts.size() - 1].size() - parts[parts.size() - 2].size() - 2);
  const InstructionNames& names = instruction_names();
  return Value::dict({{names.file, file},
                      {names.line, Value::big_integer(parts[parts.size() - 2])},
                      {names.column, Value::big_integer(parts[parts.size() - 1])}});
}

std::vector<std::string> warnings_of(const PackageReport& report) {
  std::vector<std::string> warnings = report.warnings;
  warnings.insert(warnings.end(), report.unasked.begin(), report.unasked.end());
  return warnings;
}

}  // namespace

Value value_of(const StatementReport& report, bool has_run) {
  const Statement& statement = *report.statement;
  const InstructionNames& names = instruction_names();
  std::vector<Entry> entries{{names.name, statement.name},
                             {names.text, statement.text},
                             {names.arguments, statement.detail.at("arguments")},
                             {names.description, statement.detail.at("description")},
                             {names.position, place_of(statement.origin)},
                             {names.why, report.why}};
  if (has_run) {
    entries.push_back({names.status, to_string(report.status)});
    entries.push_back({names.result, report.result});
    entries.push_back({names.changes, list_of(report.changes)});
    entries.push_back({names.seconds, static_cast<double>(report.took.count()) / 1e9});
  }
  return Value::dict(std::move(entries));
}

Value begin_line(const Statement& statement, size_t number, size_t total) {
  return Value::dict({{"event", "instruction"},
                      {"number", number},
                      {"total", total},
                      {"name", statement.name},
                      {"text", statement.text}});
}

std::optional<Error> refusal_of(const PackageReport& report) {
  return report.findings.empty() ? std::nullopt : std::optional(findings_error(report.findings));
}

Value document_of(const PackageReport& report, bool is_dry,
                  const std::optional<EnvironmentView>& view, bool is_last_line) {
  std::vector<Entry> entries{{"environment", report.environment},
                             {"warnings", list_of(warnings_of(report))},
                             {"images", list_of(report.images)},
                             {"dependencies", list_of(report.dependencies)},
                             {"output", report.has_output ? report.output : Value()},
                             {"success", is_dry ? report.findings.empty() : report.summary.good()}};
  if (is_last_line) {
    entries.push_back({"event", "run_finished"});
  } else {
    std::vector<Value> instructions;
    for (const StatementReport& statement : report.statements)
      instructions.push_back(value_of(statement, !is_dry));
    entries.push_back({"instructions", Value::list(std::move(instructions))});
  }
  if (view)
    entries.push_back({"services", list_of(view->services)});
  if (const std::optional<Error> refusal = refusal_of(report))
    entries.push_back({"error", value_of(*refusal)});
  if (!is_dry) {
    entries.push_back({"done", report.summary.done});
    entries.push_back({"kept", report.summary.kept});
    entries.push_back({"failures", list_of(report.summary.failures)});
    entries.push_back({"leftovers", report.summary.leftovers});
    entries.push_back({"orphans", list_of(report.orphaned)});
    entries.push_back({"removed", list_of(report.removed)});
    entries.push_back({"not_repeated", list_of(report.outlived)});
    entries.push_back({"interrupted", report.summary.stopped});
    entries.push_back({"seconds", static_cast<double>(report.took.count()) / 1e9});
  }
  return Value::dict(std::move(entries));
}

Value graph_document(const std::string& environment, std::string_view format,
                     const std::string& graph, const std::string& path) {
  return Value::dict({{"environment", environment},
                      {"format", format},
                      {"path", text_or_null(path)},
                      {"graph", graph}});
}

Value printed_document(bool is_success, std::vector<Value> printed) {
  return Value::dict({{"success", is_success}, {"printed", Value::list(std::move(printed))}});
}

}  // namespace fettle
