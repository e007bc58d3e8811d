/// The states that ship with fettle: one row for each function. A row says what the function is
/// called and what it takes; the drivers do the work.

#include "states/catalogue.h"
#include "value/json.h"

namespace fettle::states {
namespace {

struct ParameterRow {
  std::string_view name;
  std::string_view otherwise;  ///< the default as JSON; empty: required
  std::string_view text;
  Shape shape = Shape::any;
};

enum class Rest : bool { none, any };

struct FunctionRow {
  std::string_view name;
  Rest rest;
  std::string_view text;
  std::string_view test_mode;
  std::vector<ParameterRow> parameters;
};

struct ModuleRow {
  std::string_view ref;
  std::string_view text;
  std::vector<FunctionRow> functions;
  std::vector<Implied> implied;
  std::vector<Name> unique;
};

constexpr std::string_view would_change = "None, with the changes that it would make";
constexpr std::string_view as_always = "the same as without";

ModuleRow test_module() {
  const ParameterRow new_state{"new_state", "null", "the new state that it reports"},
      result{"result", "true", "the result that it returns"};
  return {
      "test",
      "States for trying out requisites, loops and outputs.",
      {
          {"nop", Rest::any, "Does nothing and succeeds.", "None", {}},
          {"anop", Rest::any, "The same as `nop`; in Idem it is asynchronous.", "None", {}},
          {"succeed_with_comment",
           Rest::any,
           "Succeeds with a comment.",
           as_always,
           {{"comment", "", "the comment"}}},
          {"succeed_without_changes", Rest::any, "Succeeds and changes nothing.", as_always, {}},
          {"succeed_with_changes", Rest::any, "Succeeds with made-up changes.", as_always, {}},
          {"succeed_with_arg_bind",
           Rest::any,
           "Succeeds and returns its `parameters` as `testing` in its new state.",
           as_always,
           {{"parameters", "null", "what it returns"}}},
          {"none_without_changes", Rest::any, "Returns None and changes nothing.", as_always, {}},
          {"fail_without_changes", Rest::any, "Fails and changes nothing.", as_always, {}},
          {"fail_with_changes", Rest::any, "Fails with made-up changes.", as_always, {}},
          {"configurable_test_state",
           Rest::any,
           "Has the result and the changes of its arguments.",
           "None when it has changes, else True",
           {{"changes", "true", "true (default), false or `Random`", Shape::outcome},
            {"result", "true", "true (default), false or `Random`", Shape::outcome},
            {"comment", "\"\"", "the comment"}}},
          {"present",
           Rest::none,
           "A resource that has the attributes given.",
           as_always,
           {{"old_state", "null", "the old state that it reports (default: what is remembered)"},
            {"changes", "null", "the changes that it reports (default: those between its states)"},
            new_state,
            result,
            {"force_save", "null", "remember the new state even when the state failed"}}},
          {"absent", Rest::none, "A resource that does not exist.", as_always, {new_state, result}},
          {"update",
           Rest::none,
           "Sets parameters in what is remembered.",
           as_always,
           {{"param_1", "", "a parameter"}, {"param_2", "null", "another one"}, result}},
          {"present_resource",
           Rest::none,
           "A resource of a provider: what is there, with what is wanted.",
           as_always,
           {{"enforce_state", "null", "what is wanted, a dictionary", Shape::dict},
            {"remote_state", "null", "what is there, a dictionary", Shape::dict},
            {"resource_id", "null", "the provider's ID of the resource"},
            result}},
          {"unique_op", Rest::any, "Takes two seconds, one at a time.", "None", {}},
          {"parallel_state",
           Rest::any,
           "Takes a second; all of them run at the same time.",
           "None",
           {}},
          {"update_low", Rest::any, "Adds a state to the run.", "None", {}},
          {"mod_watch", Rest::any, "What `watch` calls when something changed.", as_always, {}},
          {"treq", Rest::any, "Needs every `test.nop` of the run implicitly.", as_always, {}},
          {"acct",
           Rest::any,
           "Returns the credentials that it was given, masked; fails without any.",
           as_always,
           {}},
      },
      {{"treq", {"test.nop"}}},
      {"unique_op"}};
}

ModuleRow cmd_module() {
  const std::vector<ParameterRow> parameters{
      {"cmd", "null", "the command, a string or a list of words (default: the name)"},
      {"cwd", "null", "the folder in which it runs"},
      {"shell", "false", "run it in a shell, with pipes and variables"},
      {"env", "null", "environment variables", Shape::variables},
      {"umask", "null", "octal", Shape::umask},
      {"timeout", "null", "seconds", Shape::time_limit},
      {"creates", "null", "a path: the command does not run while it exists"},
      {"success_retcodes", "null", "exit codes that mean success (default: 0)", Shape::exit_codes},
      {"render_pipe", "null",
       "`json` or `yaml`: how to parse the output into `state` of the new state"},
      {"is_string_output", "false", "`state` is the output as a string"}};
  return {"cmd",
          "Commands of this machine.",
          {{"run", Rest::none,
            "Runs a command. The new state has `stdout`, `stderr`, `retcode` and `state`.",
            "None: it would run", parameters},
           {"wait", Rest::none, "Runs a command when something that it watches has changed.",
            "None: it would run", parameters}},
          {},
          {}};
}

ModuleRow file_module() {
  const ParameterRow mode{"mode", "null", "octal, in quotes: `'0644'`", Shape::mode},
      user{"user", "null", "the owner", Shape::user},
      group{"group", "null", "the group", Shape::user};
  return {"file",
          "Files, folders and links of this machine. The name is the path.",
          {{"managed",
            Rest::none,
            "A file with this content.",
            would_change,
            {{"contents", "null", "the content"},
             {"source", "null", "a file of the sources with the content"},
             {"contents_newline", "true", "end `contents` with a newline"},
             mode,
             user,
             group}},
           {"directory", Rest::none, "A folder.", would_change, {mode, user, group}},
           {"symlink",
            Rest::none,
            "A symbolic link.",
            would_change,
            {{"target", "", "the target of the link"}}},
           {"absent", Rest::none, "Nothing at this path.", would_change, {}}},
          {},
          {}};
}

ModuleRow container_module() {
  return {
      "container",
      "Containers on an engine. The name is that of the container.",
      {{"running",
        Rest::none,
        "A running container.",
        would_change,
        {{"image", "", "a reference such as `nginx:1.27`"},
         {"entrypoint", "null", "a list of words (default: that of the image)"},
         {"command", "null", "a list of words (default: that of the image)"},
         {"env", "null", "environment variables", Shape::variables},
         {"ports", "null", "ports by ID: 80 or `53/udp`"},
         {"public_ports", "null", "ports of this machine by ID"},
         {"mounts", "null", "paths in the container, and the paths of this machine they map to"},
         {"labels", "null", "labels"},
         {"memory", "null", "limit in MB", Shape::count},
         {"cpu", "null", "limit in thousandths of a CPU", Shape::count},
         {"restart", "null", "`always` or `no` (default)", Shape::restart},
         {"wait", "null", "how long its ports may take to open (default: `2m`)", Shape::duration}}},
       {"absent", Rest::none, "No container with this name.", would_change, {}}},
      {},
      {}};
}

ModuleRow http_module() {
  const std::vector<ParameterRow> query{
      {"url", "null", "the URL (default: the name)", Shape::url},
      {"method", "\"GET\"", "the method", Shape::method},
      {"headers", "null", "a dictionary", Shape::headers},
      {"data", "null", "the body: a string, or a value that is sent as JSON"},
      {"status", "null", "the expected status code, or a list of them (default: 200 to 299)",
       Shape::statuses},
      {"match", "null", "a string that the response must contain", Shape::text}};
  std::vector<ParameterRow> wait = query;
  wait.push_back({"wait_for", "300", "seconds: how long to repeat the request", Shape::seconds});
  wait.push_back({"request_interval", "1", "seconds between two requests", Shape::seconds});
  return {"http",
          "Requests to servers. The new state has `status` and `text`.",
          {{"query", Rest::none, "Sends one request.", "None: it would send the request", query},
           {"wait_for_successful_query", Rest::none,
            "Repeats the request until the response is as expected.",
            "None: it would send the request", wait}},
          {},
          {}};
}

std::vector<ModuleRow> module_rows() {
  return {
      test_module(),
      cmd_module(),
      file_module(),
      container_module(),
      http_module(),
      {"time",
       "Waiting.",
       {{"sleep",
         Rest::none,
         "Waits.",
         "True, without waiting",
         {{"duration", "", "seconds", Shape::seconds}}}},
       {},
       {}},
      {"data",
       "Files written from values.",
       {{"write",
         Rest::none,
         "Writes a file from a template, or the parameters as JSON, in every run.",
         would_change,
         {{"parameters", "", "a dictionary: `parameters` in the template", Shape::dict},
          {"file_name", "null", "the path (default: the name)", Shape::text},
          {"template", "null", "a template in a `raw` block", Shape::text},
          {"template_file_name", "null", "the path of a template", Shape::text}}}},
       {},
       {}},
      {"trigger",
       "Changes that others wait for.",
       {{"build",
         Rest::none,
         "Has changes when its triggers differ from the last run.",
         would_change,
         {{"triggers", "null", "a dictionary, or a list of them"},
          {"resource_id", "null", "kept by fettle"}}}},
       {},
       {}},
      {"template",
       "Templates.",
       {{"render",
         Rest::none,
         "Renders a template into `rendered` of the new state.",
         as_always,
         {{"template_file_name", "null", "the path of a template", Shape::text},
          {"template", "null", "a template in a `raw` block", Shape::text},
          {"variables", "null", "the variables of the template", Shape::dict}}}},
       {},
       {}},
      {"render",
       "Blocks that become states of the run.",
       {{"block",
         Rest::none,
         "Renders a block and adds its states to the run.",
         as_always,
         {{"sls", "null", "the block"},
          {"block", "null", "the same"},
          {"render", "null", "the pipe (default: that of the run)"}}}},
       {},
       {}},
      {"exec",
       "Functions that are not states.",
       {{"run",
         Rest::none,
         "Calls a function. Its result is the new state; its changes are unknown.",
         "None",
         {{"path", "null", "the function (default: the name)", Shape::text},
          {"args", "null", "a list", Shape::list},
          {"kwargs", "null", "a dictionary", Shape::dict}}},
        {"stateful",
         Rest::none,
         "Reads the state, calls a function, and reads the state again.",
         "None",
         {{"path", "", "the function", Shape::text},
          {"resource_id", "null", "the provider's ID of the resource"},
          {"get_path", "null", "the function that reads the state", Shape::text},
          {"args", "null", "a list", Shape::list},
          {"kwargs", "null", "a dictionary", Shape::dict},
          {"get_args", "null", "a list (default: empty)", Shape::list},
          {"get_kwargs", "null", "a dictionary (default: the `kwargs` that it accepts)",
           Shape::dict},
          {"esm_state_id", "null", "the ID of the state whose memory this is"},
          {"esm_state_name", "null", "the name of that state"}}}},
       {},
       {}},
      {"sls",
       "Files of states as one state.",
       {{"run",
         Rest::any,
         "Runs files of states with their own parameters. Their IDs start with its name and a dot; "
         "further arguments are parameters.",
         "that of each state in it",
         {{"sls_sources", "", "a list of refs", Shape::refs},
          {"params", "null", "a list of refs of parameters", Shape::refs},
          {"esm_params", "null", "parameters, too", Shape::dict}}}},
       {},
       {}},
      {"acct",
       "Credentials.",
       {{"profile",
         Rest::any,
         "Creates a profile for the rest of the run. States that use it must require this one.",
         as_always,
         {{"provider_name", "", "the provider of the profile", Shape::text},
          {"profile_name", "null", "the name of the profile (default: that of the state)",
           Shape::text},
          {"source_profile", "null", "the profile that it is based on"}}}},
       {},
       {}},
  };
}

Module module_of(const ModuleRow& row) {
  Module made{row.ref, std::string(row.text), {}, row.implied, row.unique, Value()};
  made.providers.push_back(row.ref);
  made.is_instant = row.ref == "test" || row.ref == "time" || row.ref == "trigger";
  for (const FunctionRow& function : row.functions) {
    Function& added = made.functions.emplace_back(Function{function.name,
                                                           std::string(function.text),
                                                           {},
                                                           function.rest == Rest::any,
                                                           std::string(function.test_mode)});
    for (const ParameterRow& parameter : function.parameters)
      added.parameters.push_back({parameter.name,
                                  parameter.otherwise.empty()
                                      ? std::nullopt
                                      : std::optional(*read_json(parameter.otherwise)),
                                  std::string(parameter.text), parameter.shape});
  }
  return made;
}

}  // namespace

const Catalogue& builtin_states() {
  static const std::unique_ptr<Catalogue> catalogue = [] {
    std::vector<Module> modules;
    for (const ModuleRow& row : module_rows())
      modules.push_back(module_of(row));
    return catalogue_of(std::move(modules));
  }();
  return *catalogue;
}

}  // namespace fettle::states
