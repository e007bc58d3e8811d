#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compile_limits.h"
#include "cli/commands/deploy.h"
#include "cli/commands/version_print.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "documents/versions.h"
#include "verbs/models/export_model.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

/// `INMANTA_REMOVED_SET_ID` names further sets to delete, separated by blanks.
void add_sets_of_environment(std::vector<std::string>& sets) {
  const char* names = std::getenv("INMANTA_REMOVED_SET_ID");
  for (const std::string_view name : split(names == nullptr ? "" : names, ' '))
    if (!name.empty())
      sets.emplace_back(name);
}

Result<ExportRequest> request_of(const Face& face) {
  const CommandLine& parsed = face.parsed;
  ExportRequest request;
  request.main_file = parsed.text("file");
  request.environment = parsed.text("enclave");
  request.is_partial = parsed.flag("partial");
  request.removed_sets = parsed.all("delete-resource-set");
  request.soft_delete = parsed.flag("soft-delete");
  request.is_dry = parsed.flag("dry-run");
  request.may_change_code = parsed.flag("allow-handler-code-update");
  request.allows_undeclared = parsed.flag("allow-undeclared");
  if (!request.is_partial && !request.removed_sets.empty())
    return user_error("A full export was requested, but `--delete-resource-set` needs `--partial`");
  if (!request.is_partial && request.soft_delete)
    return user_error("`--soft-delete` needs `--partial`");
  if (request.is_partial && parsed.flag("if-due"))
    return user_error("--if-due is for full exports and excludes --partial");
  if (request.is_partial)
    add_sets_of_environment(request.removed_sets);
  if (parsed.has("base")) {
    const int64_t base = TRY(parsed.number("base", 0));
    if (base < 1)
      return user_error("`--base` must be the number of a version");
    request.base = static_cast<uint64_t>(base);
  }
  return request;
}

Result<model::CompileOptions> compile_options(const Face& face) {
  model::CompileOptions options;
  TRY(read_limits(face, options));
  // If a document is printed, the output of a model goes where warnings go.
  const bool is_document = face.json || face.json_lines || face.parsed.text("json-file") == "-";
  options.print = [is_document, is_quiet = face.quiet](std::string_view line) {
    if (is_document)
      print_error(line);
    else if (!is_quiet)
      print_as_written(line);
  };
  options.warn = [&face](const Error& warning) { print_warning(face, to_string(warning)); };
  return options;
}

/// Neither reads nor writes the store.
Result<int> export_to_file(const Face& face, const ExportRequest& request,
                           const model::CompileOptions& options) {
  const Activity compiling(face.doing, "compiling");
  ExportedModel exported = TRY(export_project(request, options, false));
  // The process ends next: nobody waits until a large model is taken apart.
  static const ExportedModel& made = *new ExportedModel(std::move(exported));
  if (!made.errors.empty())
    return report_model_errors(face, made.errors);
  const std::string file = face.parsed.text("json-file");
  const auto fill = [&](const ByteSink& write) {
    return model::write_resources(made.exported, write);
  };
  if (file == "-")
    TRY(fill([](std::string_view json) -> Status {
      print_part(json);
      return {};
    }));
  else
    TRY(write_output(file, fill));
  return 0;
}

Result<int> run_export(Face& face) {
  const ExportRequest request = TRY(request_of(face));
  const model::CompileOptions options = TRY(compile_options(face));
  if (face.parsed.has("json-file") && face.parsed.flag("apply"))
    return user_error(
        "`--apply` releases a stored version, and `--json-file` stores none; leave one of them "
        "out");
  if (face.parsed.has("json-file"))
    return export_to_file(face, request, options);
  if (face.parsed.flag("apply") && request.is_dry)
    return user_error(
        "`--apply` and `--dry-run` contradict each other; `fettle plan` shows what would be done");
  ApplyRequest apply = TRY(deploy_request(face));
  Workplace* place = TRY(face.workplace());
  if (face.parsed.flag("if-due")) {
    if (!TRY(full_export_is_due(*place, Name(TRY(environment_of_export(request)))))) {
      if (face.json || face.json_lines)
        print_json(no_export_document());
      else if (!face.quiet)
        print("no full export is due");
      return 0;
    }
  }
  const ExportReport report = TRY(export_to_store(*place, request, options));
  if (!report.errors.empty())
    return report_model_errors(face, report.errors);
  if (face.parsed.flag("apply")) {
    if (!face.quiet && !face.json && !face.json_lines)
      print(pushed_text(report.pushed, false, face.colour));
    const Name environment(report.environment);
    apply.environment = environment;
    apply.version = report.pushed.number;
    apply.releases = true;
    return deploy(face, apply);
  }
  if (face.json || face.json_lines)
    print_json(document_of(report.pushed, request.is_dry));
  else
    print(face.quiet ? cat(report.pushed.number)
                     : pushed_text(report.pushed, request.is_dry, face.colour));
  return 0;
}

}  // namespace

Command export_command() {
  Command command;
  command.words = "export";
  command.tells_lines = true;
  command.group = "models";
  command.summary = "Compiles a model and pushes its resources as a new version.";
  command.examples = {"fettle export -f main.cf -e networks",
                      "fettle export -f partial.cf --partial -e networks --dry-run"};
  command.options = {
      model_environment_option(),
      {{"-f", "--file"}, "FILE", "the main file (default: main.cf of the project)"},
      {{"--partial"}, "", "only the sets of this model are replaced"},
      {{"--delete-resource-set"}, "NAME", "a set to delete, with --partial; may be repeated", true},
      {{"--soft-delete"}, "", "sets to delete that are exported are kept"},
      {{"--dry-run"}, "", "show the result and store nothing"},
      {{"-j", "--json-file"},
       "FILE",
       "write the resources as JSON to FILE, without the store; - is standard output",
       false,
       false,
       {},
       true},
      {{"--base"}, "VERSION", "the version that the model was made for"},
      {{"--if-due"}, "", "only when the setting auto_full_compile says that a full export is due"},
      {{"--allow-handler-code-update"}, "", "a partial export may bring other handler code"},
      allow_undeclared_option(),
      {{"--apply"}, "", "release the version and deploy it"},
  };
  for (CommandOption& option : compile_limit_options())
    command.options.push_back(std::move(option));
  for (CommandOption& option : deploy_options())
    command.options.push_back(std::move(option));
  command.name_files = name_project;
  command.run = run_export;
  return command;
}

}  // namespace fettle
