#include "documents/checks.h"

#include "documents/errors.h"

namespace fettle {
namespace {

void append_findings(const CheckResult& checked, const std::vector<Error>& findings,
                     std::string_view severity, std::vector<Value>& values) {
  for (const Error& finding : findings) {
    const Value told = value_of(finding);
    values.push_back(Value::dict({{"severity", severity},
                                  {"kind", checked.kind},
                                  {"path", checked.path},
                                  {"message", told.at("message")},
                                  {"file", told.at("file")},
                                  {"line", told.at("line")},
                                  {"column", told.at("column")}}));
  }
}

}  // namespace

Value document_of(const std::vector<CheckResult>& checked) {
  size_t errors = 0, warnings = 0;
  std::vector<Value> things, findings;
  for (const CheckResult& one : checked) {
    errors += one.errors.size();
    warnings += one.warnings.size();
    things.push_back(Value::dict({{"kind", one.kind},
                                  {"path", one.path},
                                  {"errors", one.errors.size()},
                                  {"warnings", one.warnings.size()}}));
    append_findings(one, one.errors, "error", findings);
    append_findings(one, one.warnings, "warning", findings);
  }
  return Value::dict({{"success", errors == 0},
                      {"errors", errors},
                      {"warnings", warnings},
                      {"checked", Value::list(std::move(things))},
                      {"findings", Value::list(std::move(findings))}});
}

Value document_of(const LayoutSummary& summary) {
  std::vector<Value> files;
  for (const FileLayout& file : summary.files)
    files.push_back(Value::dict({{"path", file.path},
                                 {"changed", file.is_changed()},
                                 {"error", file.error ? value_of(*file.error) : Value()}}));
  return Value::dict({{"success", summary.failed == 0},
                      {"changed", summary.changed},
                      {"unchanged", summary.unchanged},
                      {"failed", summary.failed},
                      {"files", Value::list(std::move(files))}});
}

}  // namespace fettle
