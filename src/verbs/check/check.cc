#include "verbs/check/check.h"

#include <algorithm>
#include <filesystem>

#include "base/kept.h"
#include "base/text.h"
#include "states/validate.h"
#include "verbs/models/export_model.h"
#include "workloads/read/read.h"

namespace fettle {
namespace {

bool is_same(const Error& a, const Error& b) {
  return a.where.file == b.where.file && a.where.line == b.where.line &&
         a.where.column == b.where.column && a.message == b.message;
}

void add(std::vector<Error>& findings, Error error) {
  if (std::ranges::none_of(findings, [&](const Error& known) { return is_same(known, error); }))
    findings.push_back(std::move(error));
}

/// `main.cf:12:3` or `main.cf:12` as a place.
Where place_of(std::string_view text) {
  const auto number_behind = [&]() -> int {
    const size_t colon = text.rfind(':');
    const std::string_view digits =
        colon == text.npos ? std::string_view() : text.substr(colon + 1);
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != digits.npos)
      return 0;
    text = text.substr(0, colon);
    return std::stoi(std::string(digits));
  };
  const int last = number_behind(), first = number_behind();
  return first == 0 ? Where{std::string(text), last, 0} : Where{std::string(text), first, last};
}

/// Adds what the guidelines of partial compiles say against a push.
void add_findings(CheckResult& checked, const Push& push) {
  for (const auto& [set, findings] : push.findings)
    if (findings.is_list())
      for (const Value& one : findings.items())
        add(checked.warnings, user_error(cat(one.text_at("rule"), ": ", one.text_at("text"),
                                             " (set `", printable(set), "`)"),
                                         place_of(one.text_at("where"))));
}

}  // namespace

CheckResult check_package(const Workplace& place, PackageRequest request) {
  CheckResult checked{"package", request.package, {}, {}};
  Result<PackageReview> reviewed = review_sources(request);
  if (!reviewed) {
    add(checked.errors, std::move(reviewed).error());
    return checked;
  }
  for (Error& error : reviewed->errors)
    add(checked.errors, std::move(error));
  for (Error& doubt : reviewed->doubts)
    add(checked.warnings, std::move(doubt));
  // A file that others import cannot be run.
  if (request.package.ends_with(".star") && !reviewed->runs && request.main_function.empty()) {
    checked.kind = "module";
    return checked;
  }
  request.use = PackageRequest::Use::check;
  Result<PackageReport> report = dry_run_package(place, request);
  if (!report) {
    Error error = std::move(report).error();
    if (error.where.file.empty())
      error.where.file = request.package;
    add(checked.errors, std::move(error));
    return checked;
  }
  for (Error& finding : report->findings)
    add(checked.errors, std::move(finding));
  for (const std::string& warning : report->warnings)
    add(checked.warnings, user_error(warning));
  return checked;
}

CheckResult check_model(const std::string& path, model::CompileOptions options) {
  CheckResult checked{"model", path, {}, {}};
  ExportRequest request;
  std::error_code failure;
  request.main_file = std::filesystem::is_directory(path, failure)
                          ? (std::filesystem::path(path) / "main.cf").lexically_normal().string()
                          : path;
  options.print = [](std::string_view) {};
  options.warn = [&](const Error& warning) { add(checked.warnings, warning); };
  Result<ExportedModel> exported = export_project(request, options, true);
  if (!exported) {
    add(checked.errors, std::move(exported).error());
    return checked;
  }
  ExportedModel& made = *exported;
  for (const Error& error : made.errors)
    add(checked.errors, error);
  if (!made.errors.empty())
    return checked;
  Result<ModelPush> pushed = push_of(request, made);
  if (!pushed) {
    add(checked.errors, std::move(pushed).error());
    return checked;
  }
  add_findings(checked, pushed->push);
  if (const std::optional<Error> circle = find_cycle(pushed->push.items))
    add(checked.errors, *circle);
  kept_until_exit(std::move(*pushed));
  kept_until_exit(std::move(made));
  return checked;
}

CheckResult check_states(const Workplace& place, StatesRequest request) {
  CheckResult checked{"states", join(request.words, " "), {}, {}};
  RunFunctions functions(place, std::move(request.functions));
  if (const Status opened = functions.open(); !opened) {
    add(checked.errors, opened.error());
    return checked;
  }
  request.compile.catalogue = &functions.catalogue();
  const std::unique_ptr<states::Files> files = states::disk_files();
  states::Validation found = states::validate(request.words, *files, std::move(request.compile));
  for (Error& error : found.errors)
    add(checked.errors, std::move(error));
  for (Error& warning : found.warnings)
    add(checked.warnings, std::move(warning));
  return checked;
}

CheckResult check_manifests(const std::string& path, std::string_view text) {
  CheckResult checked{"workloads", path, {}, {}};
  workloads::Manifests read = workloads::read_manifests(text, path, {});
  for (Error& error : read.errors)
    add(checked.errors, std::move(error));
  return checked;
}

}  // namespace fettle
