#include <filesystem>

#include "base/file.h"
#include "base/kept.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/package_options.h"
#include "cli/kurtosis_forms.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "core/environment_name.h"
#include "documents/events.h"
#include "documents/packages.h"
#include "packages/instruction_graph.h"
#include "value/json.h"
#include "verbs/environments/environments.h"
#include "verbs/environments/images.h"
#include "verbs/packages/run_package.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// The returned value as Kurtosis prints it: indented by tabs.
std::string output_text(const Value& output) {
  const std::string json = write_json(output, {.indent = 1});
  std::string text;
  for (const std::string_view line : split(json, '\n')) {
    const size_t depth = std::min(line.find_first_not_of(' '), line.size());
    text += cat(text.empty() ? "" : "\n", std::string(depth, '\t'), line.substr(depth));
  }
  return text;
}

/// Whether nothing but the result and errors is wanted: `-q` without `-v`.
bool is_bare(const Face& face) { return face.quiet && !face.parsed.has("verbosity"); }

/// Kurtosis: what was wrong before anything ran has a heading of its own.
Error with_heading(const Face& face, bool interpreted, Error error) {
  // An engine that cannot be used is no fault of the package.
  const bool about_package =
      error.blame == Blame::user && (!interpreted || !error.where.file.empty());
  if (!about_package || face.json || face.json_lines || is_bare(face))
    return error;
  print(cat("There was an error ", interpreted ? "validating" : "interpreting", " Starlark code"));
  print("Error encountered running Starlark code.");
  return error;
}

/// The graph of what needs what, into a file or to stdout.
Status write_graph(const Face& face, const PackageReport& report) {
  const bool is_mermaid = face.parsed.flag("with-mermaid");
  const std::string graph = is_mermaid ? mermaid_graph(*report.intent, *report.script)
                                       : graphviz_graph(*report.intent, *report.script);
  const std::string path = face.parsed.text("output-graph-path");
  const bool as_document = face.json || face.json_lines;
  if (!path.empty() && !(as_document && is_standard_output(path)))
    TRY(write_output(path, hidden(graph) + "\n"));
  if (as_document)
    print_json(
        graph_document(report.environment, is_mermaid ? "mermaid" : "graphviz", graph, path));
  else if (path.empty())
    print(graph);
  return {};
}

/// Prints what must be there before a package can run without a network.
void print_dependencies(const PackageReport& report) {
  const auto list = [](std::string_view name, const std::vector<std::string>& items) {
    print(cat(name, items.empty() ? ": []" : ":"));
    for (const std::string& item : items)
      print(cat("  - ", item));
  };
  list("images", report.images);
  list("packages", report.dependencies);
}

/// `add_service name="web" config=ServiceConfig(image="i")`, as Kurtosis tells a call: without the
/// brackets around its arguments and the commas between them.
std::string words_of_call(std::string_view call) {
  const size_t open = call.find('(');
  if (open == call.npos || !call.ends_with(')'))
    return std::string(call);
  std::string words = cat(call.substr(0, open), " ");
  int depth = 0;
  bool quoted = false;
  for (const char c : call.substr(open + 1, call.size() - open - 2)) {
    const bool escaped = quoted && words.ends_with('\\') && !words.ends_with("\\\\");
    quoted ^= c == '"' && !escaped;
    if (!quoted)
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c != ',' || quoted || depth > 0)
      words += c;
  }
  return words;
}

std::string error_label(const Face& face) { return in(Colour::red, "error: ", face.terminal); }

/// `number` is the instruction's place in the script, from 1.
void print_failed(const Face& face, const StatementReport& report, size_t number) {
  print_error(cat(error_label(face), report.statement->origin, ": instruction ", number, ", `",
                  report.statement->name, "`, failed: ", report.result));
}

/// Tells a run as text, in the verbosity that was asked for.
class RunTeller : public PackageAudience {
 public:
  RunTeller(Face& face, std::string verbosity)
      : face_(face), package_(face.parsed.argument(0)), verbosity_(std::move(verbosity)) {}

  void interpreted(const Package& package) override {
    interpreted_ = true;
    // Before anything happens: there may be a reason to stop it.
    if (!face_.json && !face_.json_lines)
      for (const std::string& warning : package.warnings)
        print_warning(face_, warning);
  }
  /// Whether the package could be interpreted; else an error of a run is about that.
  bool has_interpreted() const { return interpreted_; }

  /// The numbers, from 1, of the instructions whose failures were told where they happened.
  const std::set<size_t>& told_failures() const { return told_failures_; }

  void began(const Statement& statement, size_t number, size_t total) override {
    numbers_[&statement] = number;
    face_.show_work(cat(package_, ": instruction ", number, " of ", total));
    if (face_.json_lines)
      print_json_line(begin_line(statement, number, total));
    if (!tells_lines() || verbosity_ == "output_only")
      return;
    if (verbosity_ == "description")
      print(in(Colour::bold, description_of(statement), face_.colour));
    else
      print(in(Colour::bold,
               verbosity_ == "executable" ? cat("plan.", statement.text)
                                          : cat("> ", words_of_call(statement.text)),
               face_.colour));
  }

  void ended(const StatementReport& report) override {
    if (face_.json_lines)
      print_json_line_as_it_is(value_of(report, true));
    const size_t number = numbers_[report.statement];
    if (!tells_lines() || told_failures_.contains(number))
      return;
    switch (report.status) {
      case StatementStatus::ran:
        print_as_it_is(report.result);
        break;
      case StatementStatus::skipped:
        print(in(Colour::grey, report.result, face_.colour));
        break;
      case StatementStatus::failed:
        told_failures_.insert(number);
        print_failed(face_, report, number);
        break;
      case StatementStatus::not_reached:
        print(in(Colour::yellow, cat("not reached: ", report.result), face_.colour));
        break;
    }
    if (verbosity_ != "output_only")
      print_changes(face_, report.changes);
    if (verbosity_ == "detailed")
      print(in(Colour::grey, cat("[", short_duration(report.took.count()), ", ", report.why, "]"),
               face_.colour));
    if (verbosity_ != "output_only")
      print("");
  }

  void event(const Event& event) override {
    if (face_.json_lines)
      print_json_line(line_of(event));
  }

 private:
  /// The quiet want the result alone, unless they say which lines they want, too.
  bool tells_lines() const { return !face_.json && !face_.json_lines && !is_bare(face_); }
  Face& face_;
  std::string package_, verbosity_;
  bool interpreted_ = false;
  std::map<const Statement*, size_t> numbers_;
  std::set<size_t> told_failures_;
};

void print_services(const Face& face, const EnvironmentView& view) {
  if (face.is_kurtosis)
    return print(kurtosis_environment(view, face.parsed.flag("full-uuids")));
  std::vector<std::vector<std::string>> rows{{"SERVICE", "STATUS", "PORTS"}};
  for (const ServiceView& service : view.services)
    rows.push_back({service.name, service.status, ports_text(service)});
  if (rows.size() > 1)
    print(cat(table(rows), "\n"));
}

/// Adds the places of those whose names say nothing.
std::string outlived_text(const PackageReport& report) {
  std::map<Key, std::string_view> origins;
  for (const StatementReport& statement : report.statements)
    for (const Key& key : statement.statement->keys)
      origins.emplace(key, statement.statement->origin.view());
  std::vector<std::string> texts;
  for (const Key& key : report.outlived)
    texts.push_back(placed_key(key, origins[key]));
  return first_few(texts);
}

/// Leaves out failures that were reported where they happened.
void print_failures(const Face& face, const PackageReport& report, const std::set<size_t>& told) {
  std::set<std::string_view> texts;
  for (size_t i = 0; i < report.statements.size(); ++i)
    if (const StatementReport& statement = report.statements[i];
        statement.status == StatementStatus::failed) {
      texts.insert(statement.result);
      if (!told.contains(i + 1))
        print_failed(face, statement, i + 1);
    }
  for (const Failure& failure : report.summary.failures)
    if (!texts.contains(to_string(failure.error)))
      print_error(cat(error_label(face), failure.origin.empty() ? "" : cat(failure.origin, ": "),
                      shown_key(failure.key), ": ", to_string(failure.error)));
}

void print_end(const Face& face, const PackageReport& report, const std::set<size_t>& told) {
  for (const std::string& warning : report.unasked)
    print_warning(face, warning);
  if (!report.outlived.empty())
    print_warning(
        face, cat("not repeated, since their services were started again: ", outlived_text(report),
                  "; `--replay` repeats ", report.outlived.size() == 1 ? "it" : "them"));
  if (!is_bare(face))
    print(!report.summary.good() ? "Error encountered running Starlark code."
          : report.has_output    ? "Starlark code successfully run. Output was:"
                                 : "Starlark code successfully run. No output was returned.");
  if (report.summary.good() && report.has_output)
    print_as_it_is(output_text(report.output));
  print_failures(face, report, told);
  if (report.summary.stopped)
    print_error(cat(error_label(face), "interrupted; run the same command to continue"));
  if (!face.quiet && !report.removed.empty())
    print_error(cat("removed, since the package no longer wants it: ", first_few(report.removed)));
  if (!face.quiet) {
    size_t skipped = 0;
    for (const StatementReport& statement : report.statements)
      skipped += statement.status == StatementStatus::skipped ? 1 : 0;
    print_error(in(
        Colour::grey,
        cat(report.environment, ": ", report.summary.done, " done, ", report.summary.kept,
            " kept, ", skipped, " of ", report.statements.size(), " instructions skipped",
            report.summary.failures.empty() ? ""
                                            : cat(", ", report.summary.failures.size(), " failed"),
            orphans_text(report.orphans, report.shared, report.orphaned, report.environment), ", ",
            short_duration(report.took.count())),
        face.terminal));
  }
}

void print_dry_run(const Face& face, const PackageReport& report, const std::string& verbosity) {
  const bool is_refused = !report.findings.empty();
  if (!is_bare(face))
    for (const StatementReport& statement : report.statements)
      print(verbosity == "description"
                ? cat(description_of(*statement.statement), "\n    ", statement.statement->text)
                : cat("plan.", statement.statement->text));
  for (const std::string& warning : report.warnings)
    print_warning(face, warning);
  if (is_refused)
    return;
  if (!is_bare(face))
    print(cat("Starlark code successfully run in dry-run mode. ",
              report.has_output ? "Output was:" : "No output was returned."));
  if (report.has_output)
    print_as_it_is(output_text(report.output));
}

/// The document of a dry run, or what it would do as text; a run that would be refused is an error.
Result<int> tell_dry_run(const Face& face, const PackageReport& report,
                         const std::string& verbosity) {
  const std::optional<Error> refusal = refusal_of(report);
  const bool only_lists = face.parsed.flag("dependencies");
  if (face.json || face.json_lines) {
    print_json_as_it_is(document_of(report, true, {}, false));
    if (!refusal || only_lists)
      return 0;
    print_error(error_text(*refusal, face.terminal));
    return 2;
  }
  if (only_lists) {
    print_dependencies(report);
    return 0;
  }
  print_dry_run(face, report, verbosity);
  if (refusal)
    return with_heading(face, true, *refusal);
  return 0;
}

/// The verbosity. Errors: flags that go with nothing, or not with each other.
Result<std::string> check_flags_of_run(const Face& face) {
  const std::string verbosity = face.parsed.text("verbosity", "description");
  const std::vector<std::string> known{"description", "brief", "detailed", "executable",
                                       "output_only"};
  if (std::find(known.begin(), known.end(), lower_case(verbosity)) == known.end()) {
    const std::string near = suggestion(verbosity, known);
    return user_error(cat("unknown verbosity `", verbosity, "`",
                          near.empty() ? cat("; known are ", join(known, ", ")) : near));
  }
  if (face.parsed.flag("dry-run") && face.parsed.has("plan"))
    return user_error(
        "`--plan` carries out a plan, and `--dry-run` runs nothing; give one of them");
  if (face.parsed.flag("pull") && !face.parsed.flag("dependencies"))
    return user_error("`--pull` needs `--dependencies`");
  return verbosity;
}

/// What `--plan` says goes for what is asked.
Status read_kept_plan(const std::string& file, PackageRequest& request) {
  request.plan = TRY(read_plan_file(TRY(read_given(file)), shown_file(file)));
  if (request.environment.empty())
    request.environment = request.plan->environment;
  if (request.environment != request.plan->environment)
    return user_error(cat("the plan `", file, "` is for `", request.plan->environment,
                          "`, not for `", request.environment, "`"));
  request.edits_in_place |= request.plan->edit_in_place;
  request.replays |= request.plan->replay;
  return {};
}

Result<int> run_package(Face& face) {
  face.show_work(cat("running ", face.parsed.argument(0)));
  PackageRequest request = TRY(package_request(face));
  const std::string verbosity = TRY(check_flags_of_run(face));
  if (!request.environment.empty())  // which is no fault of the package
    TRY(check_environment_name(request.environment));
  Workplace* place = TRY(face.workplace());
  const bool graph = face.parsed.flag("output-graph") || face.parsed.has("output-graph-path") ||
                     face.parsed.flag("with-mermaid");
  if (graph || face.parsed.flag("dry-run") || face.parsed.flag("dependencies")) {
    if (graph)  // needs alone are the edges
      request.order = ScriptOrder::needs;
    request.use = PackageRequest::Use::preview;
    Result<PackageReport> made = dry_run_package(*place, request);
    if (!made)
      return with_heading(face, false, std::move(made).error());
    const PackageReport report = std::move(*made);
    if (face.parsed.flag("pull") && face.parsed.flag("dependencies"))
      if (const Summary pulled = TRY(pull_images(*place, *report.intent)); !pulled.good())
        return tell_failed(face, pulled);
    if (graph) {
      TRY(write_graph(face, report));
      return 0;
    }
    return tell_dry_run(face, report, verbosity);
  }
  if (const std::string file = face.parsed.text("plan"); !file.empty())
    TRY(read_kept_plan(file, request));
  RunTeller teller(face, lower_case(verbosity));
  Result<PackageReport> ran = run_package(*place, request, teller);
  if (!ran)
    return with_heading(face, teller.has_interpreted(), std::move(ran).error());
  const PackageReport& report = kept_until_exit(std::move(*ran));
  const bool shows = face.parsed.flag("show-enclave-inspect", true);
  const auto inspect = [&]() -> std::optional<EnvironmentView> {
    // The view also tells which services ended with an error.
    if (!shows && face.quiet)
      return std::nullopt;
    Result<EnvironmentView> view =
        inspect_environment(*place, report.environment, report.seen, &report.known);
    if (!view)
      return std::nullopt;
    if (report.summary.good())
      warn_of_ends(face, *view);
    return shows ? std::optional(std::move(*view)) : std::nullopt;
  };
  if (face.json) {
    print_json_as_it_is(document_of(report, false, inspect(), false));
  } else if (face.json_lines) {
    print_json_line_as_it_is(document_of(report, false, inspect(), true));
  } else {
    print_end(face, report, teller.told_failures());
    if (!face.quiet)
      if (const std::optional<EnvironmentView> view = inspect())
        print_services(face, *view);
  }
  return exit_code(report.summary);
}

}  // namespace

namespace {

/// `FILE.star`, in this folder, as Kurtosis calls it.
std::string converted_name(const std::string& package) {
  const std::filesystem::path path = std::filesystem::path(package).lexically_normal();
  const std::string stem =
      (path.has_filename() ? path : path.parent_path()).filename().stem().string();
  return cat(stem.empty() || stem == "." ? "compose" : stem, ".star");
}

Result<int> import_compose(Face& face) {
  const bool prints = face.output == "-";
  if (!face.parsed.flag("convert") && !prints)
    return run_package(face);
  const PackageRequest request = TRY(package_request(face));
  const compose::Program program = TRY(program_of_compose(request));
  const std::string file = prints ? "-" : converted_name(request.package);
  TRY(write_output(file, program.text));
  for (const std::string& warning : program.warnings)
    print_warning(face, warning);
  if (!program.hidden.empty())
    print_warning(face, "the text has the contents of secrets");
  if (!prints && !face.quiet)
    print_error(cat("wrote ", file));
  return 0;
}

}  // namespace

Command import_command() {
  std::vector<CommandOption> options = package_options();
  std::erase_if(options, [](const CommandOption& one) {
    return one.names.front() == "-e" || one.names.front() == "--env-file";
  });
  Command command = CommandGroup{"packages", std::move(options)}.make(
      "import", "FILE", 1, 1,
      "Runs a compose file, or writes it as a Starlark package.\n`fettle run FILE` runs it, too.",
      {"fettle import compose.yml -n shop", "fettle import -c compose.yml",
       "fettle import -c -o - compose.yml"},
      import_compose,
      {{{"-n", "--enclave", "--environment"}, "NAME", "the environment, by name or uuid"},
       {{"-e", "--env-file", "--env"},
        "FILE",
        "variables of the compose file, in place of the `.env` beside it; of several, the last "
        "wins",
        true},
       {{"-f", "--file"},
        "FILE",
        "another compose file, which counts before those named so far",
        true},
       {{"-c", "--convert"}, "", "write FILE.star into this folder and run nothing"},
       {{"--show-enclave-inspect"},
        "",
        "list the services at the end (on; `=false` turns it off)"}});
  command.outputs = {"-"};
  command.name_files = [](const CommandLine& parsed, NamedFiles& named) {
    name_package(parsed, named);
    if (parsed.flag("convert"))
      named.writes.emplace_back(".");
  };
  command.file_is_argument = true;
  command.tells_lines = true;
  return command;
}

Command run_command() {
  Command command = CommandGroup{"packages", package_options()}.make(
      "run", "PACKAGE [ARGUMENTS]", 1, 2,
      "Runs a Starlark package: a folder, a .star file or github.com/AUTHOR/REPOSITORY; or a "
      "compose file.\nA repeated run does only what changed.",
      {"fettle run .", "fettle run compose.yml --profile debug",
       "fettle run github.com/kurtosis-tech/redis-package '{\"service_name\": \"cache\"}' -e "
       "cache"},
      run_package,
      {{{"--dry-run"}, "", "interpret and validate, run nothing; needs no engine"},
       {{"--plan"},
        "FILE",
        "carry out the plan of `fettle plan --out FILE`; fails when something else is due"},
       {{"-f", "--file"}, "FILE", "a compose file, which counts before those named so far", true},
       {{"--dependencies"},
        "",
        "list the images and packages that the package needs, and run nothing"},
       {{"--pull"}, "", "with --dependencies: fetch the images and packages, too"},
       {{"--output-graph"}, "", "print the graph of needs for Graphviz, and run nothing"},
       {{"--output-graph-path"}, "FILE", "write the graph to FILE", false, false, {}, true},
       {{"--with-mermaid"}, "", "print the graph for Mermaid"},
       {{"-v", "--verbosity"},
        "KIND",
        "description, brief, detailed, executable or output_only",
        false,
        false,
        {"description", "brief", "detailed", "executable", "output_only"}},
       {{"--show-enclave-inspect"}, "", "list the services at the end (on; `=false` turns it off)"},
       {{"--full-uuids"}, "", "show full uuids"},
       {{"--no-connect"}, "", "accepted for scripts; ports are always published on this machine"},
       {{"--non-blocking-tasks"}, "", "accepted for scripts; tasks leave no containers behind"}});
  command.file_is_argument = true;
  command.tells_lines = true;
  command.name_files = name_package;
  command.needs_no_state = [](const CommandLine& parsed) { return parsed.flag("dry-run"); };
  return command;
}

}  // namespace fettle
