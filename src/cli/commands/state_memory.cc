/// Commands about what is there and what is remembered, and the batch call.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/state_options.h"
#include "cli/commands/state_print.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/states.h"
#include "value/json.h"
#include "value/yaml.h"
#include "verbs/states/states_away.h"

namespace fettle {
namespace {

Result<Description> described(Face& face, const Workplace& place, StatesRequest& request) {
  const std::unique_ptr<FunctionCalls> functions =
      TRY(FunctionCalls::make(place, request.environment, std::move(request.functions)));
  Description found =
      TRY(functions->describe(face.parsed.argument(0, "*"), face.parsed.flag("hard-fail")));
  for (const Error& warning : found.warnings)
    print_warning(face, to_string(warning));
  return found;
}

Result<int> state_describe(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  const std::string filter = face.parsed.text("filter");
  const Description found = TRY(described(face, *place, request));
  const Value states = filter.empty() ? found.states : TRY(filter_described(found.states, filter));
  if (face.json)
    print_json_of_original(states);
  else
    print(trim(write_yaml(states)));
  return 0;
}

/// Describes, looks at what that says, and remembers what is there.
Result<int> refresh(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  FunctionOptions kept = request.functions;
  const Description found = TRY(described(face, *place, request));
  request.functions = std::move(kept);
  request.words = {"described"};
  request.compile.sources = {
      cat("json://", write_json(Value::dict({{"described", found.states}})))};
  request.is_test = true;
  const std::string environment = request.environment;
  const StatesReport report = TRY(apply_states(*place, std::move(request), nullptr));
  if (!report.errors.empty())
    return report.errors[0];
  std::vector<Entry> memory;
  size_t changed = 0;
  for (const StateResult& result : report.results) {
    const Value& changes = result.entry.at("changes");
    changed += changes.is_dict() && !changes.entries().empty() ? 1 : 0;
    if (const Value& state = result.entry.at("new_state"); state.is_dict())
      memory.push_back({Name(result.entry.text_at("esm_tag")), state});
  }
  const size_t count = TRY(remember_states(*place, environment, Value::dict(std::move(memory)),
                                           !face.parsed.flag("no-lease-wait")));
  if (face.json)
    print_json(memory_document(count, changed));
  else if (!face.quiet)
    print(cat(counted(count, "state"), " remembered, ", changed, " of them changed"));
  return 0;
}

Result<int> restore(Face& face) {
  const StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  const std::string file = face.parsed.argument(0);
  const std::string text = TRY(read_given(file));
  const size_t count = TRY(remember_states(*place, request.environment,
                                           TRY(read_json(text, shown_file(file))), request.waits));
  if (face.json)
    print_json(memory_document(count));
  else if (!face.quiet)
    print(cat(counted(count, "state"), " remembered in `", request.environment, "`"));
  return 0;
}

/// An unknown parameter, or one of another type, is an error.
Status check_batch(const Value& call) {
  struct Parameter {
    std::string_view name;
    bool (*is_good)(const Value&);
    std::string_view wanted;
  };
  constexpr auto is_text = [](const Value& value) { return value.is_text() || value.is_null(); };
  constexpr auto is_dict = [](const Value& value) { return value.is_dict() || value.is_null(); };
  constexpr auto is_bool = [](const Value& value) { return value.is_bool() || value.is_null(); };
  static constexpr std::array<Parameter, 14> parameters{{
      {"states", is_dict, "a dictionary"},
      {"name", is_text, "a text"},
      {"test", is_bool, "true or false"},
      {"runtime", is_text, "a text"},
      {"renderer", is_text, "a text"},
      {"profiles", is_dict, "a dictionary"},
      {"encrypted_profiles", is_text, "a text"},
      {"acct_key", is_text, "a text"},
      {"default_acct_profile", is_text, "a text"},
      {"reconcile_plugin", is_text, "a text"},
      {"pending_plugin", is_text, "a text"},
      {"esm_plugin", is_text, "a text"},
      {"esm_profile", is_text, "a text"},
      {"crypto_plugin", is_text, "a text"},
  }};
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters)
    names.push_back(parameter.name);
  for (const Entry& entry : call.entries()) {
    const auto found = std::ranges::find(parameters, entry.key.view(), &Parameter::name);
    if (found == parameters.end())
      return user_error(
          cat("a batch has no parameter `", entry.key, "`", suggestion(entry.key, names)));
    if (!found->is_good(entry.value))
      return user_error(
          cat("`", entry.key, "` of a batch is ", found->wanted, ", not ", to_text(entry.value)));
  }
  if (const std::string_view runtime = call.text_at("runtime");
      !runtime.empty() && runtime != "serial" && runtime != "parallel")
    return user_error(cat("`runtime` of a batch is `serial` or `parallel`, not `", runtime, "`"));
  return {};
}

int tell_batch_errors(Face& face, const std::vector<Error>& errors) {
  face.json = true;
  return tell_state_errors(face, errors);
}

Result<int> carry_batch(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  Workplace* place = TRY(face.workplace());
  const Value call = TRY(read_json(TRY(read_given(face.parsed.argument(0, "-"))), "batch"));
  if (!call.is_dict() || !call.at("states").is_dict())
    return user_error("a batch is a dictionary with `states`, a dictionary of files of states");
  TRY(check_batch(call));
  const auto text = [&](const char* key, std::string& into) {
    if (const std::string_view given = call.text_at(key); !given.empty())
      into = given;
  };
  request.words = {"batch"};
  request.compile.sources = {cat(
      "json://", write_json(Value::dict({{"batch", call.at("states")}}), {.show_secrets = true}))};
  request.reconciler = "basic";
  text("name", request.environment);
  request.compile.run_name = request.functions.run_name = request.environment;
  text("reconcile_plugin", request.reconciler);
  text("pending_plugin", request.pending);
  text("default_acct_profile", request.functions.acct_profile);
  request.is_serial = call.text_at("runtime") == "serial";
  request.is_test = call.bool_at("test");
  request.remembers = call.text_at("esm_plugin") != "null";
  if (const Value& profiles = call.at("profiles"); profiles.is_dict())
    request.functions.credentials.add(TRY(states::Credentials::of(profiles)));
  if (const std::string_view sealed = call.text_at("encrypted_profiles"); !sealed.empty())
    request.functions.credentials.add(
        TRY(states::Credentials::read(sealed, "encrypted_profiles", call.text_at("acct_key"))));
  const bool is_test = request.is_test;
  const StatesReport report = TRY(apply_states(*place, std::move(request), nullptr));
  if (!report.errors.empty())
    return tell_batch_errors(face, report.errors);
  print_json_of_original(document_of(report));
  return code_of_states(face, report, is_test);
}

/// The batch call of Idem: its parameters as a document, its answer as one. What is wrong with the
/// call is answered as what is wrong with the states.
Result<int> batch(Face& face) {
  Result<int> code = carry_batch(face);
  if (code || code.error().blame != Blame::user)
    return code;
  return tell_batch_errors(face, {code.error()});
}

}  // namespace

std::vector<Command> state_memory_commands() {
  CommandGroup group{"states", state_options()};
  group.options.push_back(on_option());
  std::vector<Command> commands{
      group.reader("describe", "PATTERN", 0, 1,
                   "Prints what exists as a file of states, with the `describe` of modules.",
                   {"fettle describe 'cloud.*'", "fettle describe cloud.vm > found.sls"},
                   state_describe,
                   {{{"--hard-fail"}, "", "stop at the first module that fails"},
                    {{"--filter"}, "JMESPATH", "only what this picks of `{name, ref, resource}`"}}),
      group.make("refresh", "PATTERN", 0, 1,
                 "Stores what exists as memory, with the `describe` of modules.",
                 {"fettle refresh 'cloud.*' -e prod", "fettle refresh cloud.vm"}, refresh,
                 {{{"--hard-fail"}, "", "stop at the first module that fails"}}),
      group.make("restore", "FILE", 1, 1, "Reads memory from a file in Idem's format.",
                 {"fettle restore memory.json -e prod", "fettle restore memory.json"}, restore),
      group.make("batch", "[FILE|-]", 0, 1,
                 "Applies states given as JSON and prints their results.",
                 {"fettle batch call.json", "echo '{\"states\": {}}' | fettle batch -"}, batch)};
  for (Command& command : commands) {
    const bool reads_file = command.words == "restore" || command.words == "batch";
    command.name_files = reads_file ? name_state_call : name_state_sources;
  }
  return commands;
}

}  // namespace fettle
