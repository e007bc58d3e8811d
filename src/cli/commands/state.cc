#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "base/user_path.h"
#include "cli/commands/commands.h"
#include "cli/commands/deploy.h"
#include "cli/commands/each_host.h"
#include "cli/commands/state_exec.h"
#include "cli/commands/state_options.h"
#include "cli/commands/state_print.h"
#include "cli/formats.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "documents/events.h"
#include "documents/states.h"
#include "states/validate.h"
#include "value/json.h"
#include "verbs/states/states_away.h"
#include "workplace/machines.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// Tells on stderr what is waited for, why, how often it was called and when it is next.
class LiveView : public Audience {
 public:
  explicit LiveView(const Face& face) : face_(face) {}
  void event(const Event& event) override {
    if (face_.json_lines)
      print_json_line(line_of(event));
  }
  void moved(const Run& run) override {
    if (face_.quiet || face_.json_lines || face_.is_live)
      return;
    for (const WaitingAct& one : run.waiting()) {
      std::string& told = told_[one.key];
      if (told == one.what)
        continue;
      told = one.what;
      const int64_t left = std::max<int64_t>(0, (one.due - instant_from_clock()).count());
      print_error(cat(in(Colour::yellow, "pending", face_.terminal), "  ", shown_key(one.key), ": ",
                      std::string_view(one.what).substr(0, one.what.find('\n')), " (call ",
                      one.calls, ", next attempt in ", short_duration(left), ")"));
    }
  }

 private:
  const Face& face_;
  std::map<Key, std::string> told_;
};

/// The words that ask for the same again, from anywhere. None if they hold a key: whoever types
/// them for somebody else would show it to all users of this machine.
LastStates words_of_run(const CommandLine& given, const std::string& environment) {
  static const std::set<std::string, std::less<>> left_out{
      "enclave", "run-name", "test", "fresh", "root-dir", "detailed-exitcode", "compat-exit-code"};
  std::error_code failed;
  LastStates asked{{"state"}, std::filesystem::current_path(failed).string()};
  if (failed || given.has("acct-key") ||
      std::ranges::find(given.arguments, "-") != given.arguments.end())
    return {};
  asked.words.insert(asked.words.end(), given.arguments.begin(), given.arguments.end());
  asked.words.insert(asked.words.end(), {"-e", environment});
  for (const CommandOption& option : state_options())
    for (const std::string& spelling : option.names)
      if (const std::string name = spelling.substr(std::min<size_t>(2, spelling.size()));
          spelling.starts_with("--") && !left_out.contains(name))
        for (const std::string& value : given.all(name))
          asked.words.push_back(cat(spelling, "=", value));
  return asked;
}

/// Errors in files and warnings. None: the run took place, well or not.
std::optional<int> tell_before_results(const Face& face, const StatesReport& report) {
  // A plugin that could not be read may be why a state is not known.
  for (const Error& warning : report.warnings)
    if (report.errors.empty())
      print_warning(face, to_string(warning));
    else
      print_error(cat("warning: ", to_string(warning)));
  if (!report.errors.empty())
    return tell_state_errors(face, report.errors);
  if (!report.fault.empty())
    print_error(cat("error: ", report.fault));
  return std::nullopt;
}

/// Applies them once; what came of it stays for as long as the process, which nobody waits to take
/// apart.
Result<const StatesReport*> applied(const Workplace& place, StatesRequest request,
                                    Audience& audience) {
  return new StatesReport(TRY(apply_states(place, std::move(request), &audience)));
}

/// Each machine in an environment of its own, `ENVIRONMENT.HOST`, one after another.
Result<int> run_states_on_each(Face& face) {
  TRY(check_on_each(face, {"on", "out", "plan"}));
  const StatesRequest request = TRY(read_states_request(face));
  Workplace* const place = TRY(face.workplace());
  const std::unique_ptr<states::Files> copies = states::disk_files(root_of_copies());
  const bool is_text = format_of(face.output).kind == Format::Kind::text;
  std::vector<Entry> told;
  int worst = 0;
  for (const std::string& host : TRY(hosts_asked(face))) {
    StatesRequest own = request;
    own.environment = own.functions.environment =
        environment_of_host(*place, request.environment, host);
    own.files = copies.get();
    if (is_text)
      print_host(face, host, own.environment);
    else if (face.json_lines)
      print_json_line(host_line(host, own.environment));
    LiveView view(face);
    const Result<const StatesReport*> report = applied(*place, std::move(own), view);
    if (!report && is_cancelled(report.error()))
      return report.error();
    if (!report) {
      worst = worse_code(worst, tell_failed_host(face, host, report.error()));
      continue;
    }
    if (const std::optional<int> code = tell_before_results(face, **report)) {
      worst = worse_code(worst, *code);
      continue;
    }
    if (is_text || face.json_lines)
      print_states(face, **report, request.is_test);
    else
      told.push_back({Name(host), document_of(**report)});
    worst = worse_code(worst, code_of_states(face, **report, request.is_test));
    if ((*report)->is_stopped)
      break;
  }
  if (!is_text && !face.json_lines)
    format_of(face.output).print(Value::dict(std::move(told)));
  return worst;
}

Result<int> run_state(Face& face) {
  if (face.parsed.has("on-each"))
    return run_states_on_each(face);
  const CommandLine given = face.parsed;  // the configuration may add to it
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  LiveView view(face);
  const bool is_test = request.is_test;
  const std::string out = face.parsed.text("out"), environment = request.environment;
  if (!out.empty() && !is_test)
    return user_error("`--out` writes what is due, so it needs `--test`");
  if (is_test && face.parsed.has("plan"))
    return user_error("`--plan` carries out a plan, and `--test` does nothing");
  request.plan = TRY(kept_plan_asked(face, environment));
  // At a server, the files are copies, which go.
  if (root_of_copies().empty())
    request.asked = words_of_run(given, environment);
  const std::unique_ptr<states::Files> copies = states::disk_files(root_of_copies());
  request.files = copies.get();
  const StatesReport& report = *TRY(applied(*place, std::move(request), view));
  if (const std::optional<int> code = tell_before_results(face, report))
    return *code;
  if (!out.empty() && !report.is_stopped) {
    TRY(write_output(out, cat(write_json(plan_file_of(report, environment), {.indent = 2}), "\n")));
    note_plan_file(face, *place, out);
  }
  if (!is_standard_output(out))
    print_states(face, report, is_test);
  return code_of_states(face, report, is_test);
}

Result<int> validate(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  RunFunctions functions(*place, std::move(request.functions));
  TRY(functions.open());
  request.compile.catalogue = &functions.catalogue();
  const std::unique_ptr<states::Files> files = states::disk_files();
  const states::Validation found =
      states::validate(request.words, *files, std::move(request.compile));
  if (!found.errors.empty())
    return tell_state_errors(face, found.errors);
  for (const Error& warning : found.warnings)
    print_warning(face, to_string(warning));
  format_of(face.output).print(found.document);
  return 0;
}

int print_functions(const Face& face, std::vector<Entry> found) {
  if (const Format& format = format_of(face.output); format.kind != Format::Kind::text)
    format.print(Value::dict(std::move(found)));
  else
    for (const Entry& entry : found)
      print(text_of_function(entry.value, face.colour));
  return 0;
}

/// `exec`, `exec.MODULE` or `exec.MODULE.FUNCTION`.
Result<int> doc_of_exec(const Face& face, RunFunctions& functions, std::string_view wanted) {
  wanted.remove_prefix(std::min<size_t>(wanted.size(), std::string_view("exec.").size()));
  std::vector<Entry> found;
  std::vector<std::string> known;
  for (auto& [path, function] : exec_functions(functions)) {
    known.push_back(path);
    if (wanted.empty() || path == wanted || path.starts_with(cat(wanted, ".")))
      found.push_back({Name(cat("exec.", path)), function});
  }
  if (found.empty())
    return user_error(cat("there is no exec function `", wanted, "`", suggestion(wanted, known)));
  return print_functions(face, std::move(found));
}

Result<int> doc(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  RunFunctions functions(*place, std::move(request.functions));
  TRY(functions.open());
  std::string wanted = face.parsed.argument(0);
  if (wanted == "exec" || wanted.starts_with("exec."))
    return doc_of_exec(face, functions, wanted);
  if (wanted.starts_with("states."))
    wanted = wanted.substr(7);
  std::vector<Entry> found;
  std::vector<std::string> known;
  for (const std::string& ref : functions.catalogue().refs()) {
    const states::Module& module = *functions.catalogue().find(ref);
    known.push_back(ref);
    for (const states::Function& function : module.functions) {
      const std::string path = cat(ref, ".", function.name);
      known.push_back(path);
      if (wanted.empty() || wanted == ref || wanted == path || ref.starts_with(wanted + "."))
        found.push_back({Name(cat("states.", path)), value_of(module, function)});
    }
  }
  if (found.empty())
    return user_error(cat("there is no state `", wanted, "`", suggestion(wanted, known)));
  return print_functions(face, std::move(found));
}

}  // namespace

std::vector<Command> state_commands() {
  const CommandGroup group{"states", state_options(), CommandPlace::server};
  std::vector<Command> commands{
      group.make(
          "state", "FILES…", 1, 1000, "Applies files of states until everything is as described.",
          {"fettle state site.sls", "fettle state web db --sls-sources states --test",
           "fettle state site.sls -R basic -P idem25",
           "fettle state site.sls -e web1 --on web1 --server team",
           "fettle state site.sls -e site -L 'web*' --server team"},
          run_state,
          {{{"--out"},
            "FILE",
            "with --test: write what is due to FILE, for `--plan`",
            false,
            false,
            {},
            true},
           {{"--plan"}, "FILE", "carry out what `--out` wrote; fails when something else is due"},
           on_option(),
           on_each_option()}),
      without_state(group.reader(
          "validate", "FILES…", 1, 1000, "Compiles files of states and prints the result.",
          {"fettle validate site.sls", "fettle validate web db --sls-sources states -o json"},
          validate)),
      group.make("exec", "FUNCTION [ARGUMENTS…]", 1, 1000, "Calls an exec function.",
                 {"fettle exec test.ping", "fettle exec cloud.vm.get name=web --plugin-dir plugins",
                  "fettle exec test.ping --on web1 --server team",
                  "fettle exec test.ping -L 'web*' --server team"},
                 state_exec, {on_option(), on_each_option()}),
      without_state(group.reader(
          "doc", "[STATE]", 0, 1,
          "Explains states and their arguments; with `exec.` in front, exec functions.",
          {"fettle doc file.managed", "fettle doc exec.test.echo -o json"}, doc))};
  for (Command& command : commands)
    command.outputs = document_formats();
  commands.front().tells_lines = true;
  for (Command& command : commands) {
    const bool is_exec = command.words == "exec";
    command.name_files = is_exec ? name_state_sources : name_states;
    command.place = command.needs_no_state == nullptr ? CommandPlace::server : CommandPlace::here;
  }
  return commands;
}

}  // namespace fettle
