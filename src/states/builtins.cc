/// The states that ship: one row a function. What they do is the matter of the drivers; a row says
/// what they are called and what they take.

#include "states/catalogue.h"
#include "value/json.h"

namespace fettle::states {
namespace {

struct ParameterRow {
  std::string_view name;
  std::string_view otherwise;  ///< JSON; empty: required
  std::string_view text;
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
  const ParameterRow old_state{"old_state", "null",
                               "what it claims to have found; else its memory"},
      new_state{"new_state", "null", "what it claims to leave"},
      result{"result", "true", "what it answers"},
      force_save{"force_save", "null", "remembers the new state even when it failed"},
      resource_id{"resource_id", "null", "how its provider calls it"};
  return {
      "test",
      "States that pretend: for trying out requisites, loops and outputs.",
      {
          {"nop", Rest::any, "Does nothing and succeeds.", "None", {}},
          {"anop", Rest::any, "The same as `nop`; in Idem it is asynchronous.", "None", {}},
          {"succeed_with_comment",
           Rest::any,
           "Succeeds and says something.",
           "None",
           {{"comment", "", "what it says"}}},
          {"succeed_without_changes", Rest::any, "Succeeds and changes nothing.", "None", {}},
          {"succeed_with_changes",
           Rest::any,
           "Succeeds with changes that it invents.",
           would_change,
           {}},
          {"succeed_with_arg_bind",
           Rest::any,
           "Succeeds and leaves its `parameters` as `testing` in its new state.",
           "None",
           {{"parameters", "null", "what it leaves"}}},
          {"none_without_changes", Rest::any, "Answers None and changes nothing.", "None", {}},
          {"fail_without_changes", Rest::any, "Fails and changes nothing.", "None", {}},
          {"fail_with_changes", Rest::any, "Fails with changes that it invents.", "None", {}},
          {"configurable_test_state",
           Rest::any,
           "Does what its arguments say.",
           "None when it is to have changes, else True",
           {{"changes", "true", "whether it has changes"},
            {"result", "null", "true, false or `Random`; else true"},
            {"comment", "\"\"", "what it says"}}},
          {"present",
           Rest::any,
           "A resource that is as its arguments say.",
           would_change,
           {resource_id, old_state, new_state, result, force_save}},
          {"absent",
           Rest::any,
           "A resource that is gone.",
           would_change,
           {resource_id, old_state, new_state, result, force_save}},
          {"update",
           Rest::any,
           "A resource that is changed.",
           would_change,
           {resource_id, old_state, new_state, result, force_save}},
          {"present_resource",
           Rest::any,
           "As `present`, for contracts of resources.",
           would_change,
           {resource_id, old_state, new_state, result, force_save}},
          {"unique_op", Rest::any, "Takes two seconds, one at a time.", "None", {}},
          {"parallel_state",
           Rest::any,
           "Takes a second, as many as there are at once.",
           "None",
           {}},
          {"update_low", Rest::any, "Adds a state to the run.", "None", {}},
          {"mod_watch", Rest::any, "What `watch` calls when something changed.", "None", {}},
          {"treq", Rest::any, "Needs every `test.nop` of the run, without saying so.", "None", {}},
          {"acct",
           Rest::any,
           "Answers with the credentials that it was given, masked.",
           "None",
           {}},
      },
      {{"treq", {"test.nop"}}},
      {"unique_op"}};
}

ModuleRow cmd_module() {
  const std::vector<ParameterRow> parameters{
      {"cmd", "null", "the command, a text or a list of words; else the name"},
      {"cwd", "null", "the folder it runs in"},
      {"shell", "false", "through a shell, so that it may use pipes and variables"},
      {"env", "null", "environment variables"},
      {"umask", "null", "octal"},
      {"timeout", "null", "seconds"},
      {"creates", "null", "a path: it does not run while that is there"},
      {"success_retcodes", "null", "exit codes that are good, else 0"},
      {"render_pipe", "null", "how its output is read into `state` of the new state"},
      {"is_string_output", "false", "its output is a text in any case"}};
  return {"cmd",
          "Commands of this machine.",
          {{"run", Rest::none,
            "Runs a command. The new state has `stdout`, `stderr`, `retcode` and `state`.",
            "None: it would run", parameters},
           {"wait", Rest::none, "Runs a command when something that it watches changed.",
            "None: it would run", parameters}},
          {},
          {}};
}

ModuleRow file_module() {
  const ParameterRow mode{"mode", "null", "as `chmod` takes it, quoted: `'0644'`"},
      user{"user", "null", "who owns it"}, group{"group", "null", "its group"};
  return {"file",
          "Files, folders and links of this machine. The name is the path.",
          {{"managed",
            Rest::none,
            "A file with a content.",
            would_change,
            {{"contents", "null", "its text"},
             {"source", "null", "a file of the sources whose text it has"},
             {"contents_newline", "true", "`contents` ends with a newline"},
             mode,
             user,
             group}},
           {"directory", Rest::none, "A folder.", would_change, {mode, user, group}},
           {"symlink",
            Rest::none,
            "A symbolic link.",
            would_change,
            {{"target", "", "where it leads"}}},
           {"absent", Rest::none, "Nothing is at the path.", would_change, {}}},
          {},
          {}};
}

ModuleRow container_module() {
  return {"container",
          "Containers of an engine. The name is the container's.",
          {{"running",
            Rest::none,
            "A container that runs.",
            would_change,
            {{"image", "", "a reference such as `nginx:1.27`"},
             {"entrypoint", "null", "words; else the image's"},
             {"command", "null", "words; else the image's"},
             {"env", "null", "environment variables"},
             {"ports", "null", "by ID: 80 or `53/udp`"},
             {"public_ports", "null", "by ID: the port of this machine"},
             {"mounts", "null", "paths of the container to paths of this machine"},
             {"labels", "null", "labels"},
             {"memory", "null", "at most so many MB"},
             {"cpu", "null", "at most so many thousandths of a processor"},
             {"restart", "null", "`always`, else `no`"},
             {"wait", "null", "how long its ports may take to answer, else `2m`"}}},
           {"absent", Rest::none, "No such container.", would_change, {}}},
          {},
          {}};
}

ModuleRow http_module() {
  const std::vector<ParameterRow> query{
      {"url", "null", "the address; else the name"},
      {"method", "\"GET\"", "the method"},
      {"headers", "null", "a dictionary"},
      {"data", "null", "the body: a text, or a value that is sent as JSON"},
      {"status", "null", "a code that is good, or a list of them; else 200 to 299"},
      {"match", "null", "a text that the answer has to contain"}};
  std::vector<ParameterRow> wait = query;
  wait.push_back({"wait_for", "300", "seconds: how long it is asked again"});
  wait.push_back({"request_interval", "1", "seconds between two questions"});
  return {"http",
          "Servers that answer. The new state has `status` and `text`.",
          {{"query", Rest::none, "Asks once.", "None: it would ask", query},
           {"wait_for_successful_query", Rest::none, "Asks until the answer is good.",
            "None: it would ask", wait}},
          {},
          {}};
}

std::vector<ModuleRow> rows() {
  return {
      test_module(),
      cmd_module(),
      file_module(),
      container_module(),
      http_module(),
      {"time",
       "Waiting.",
       {{"sleep", Rest::none, "Waits.", "None: it would wait", {{"duration", "", "seconds"}}}},
       {},
       {}},
      {"data",
       "Files that are written from values.",
       {{"write",
         Rest::none,
         "Writes a file from a template, or the parameters as JSON. It is written in every run.",
         would_change,
         {{"parameters", "", "a dictionary, `parameters` of the template"},
          {"file_name", "null", "the path; else the name"},
          {"template", "null", "a template within `raw`"},
          {"template_file_name", "null", "a path of one"}}}},
       {},
       {}},
      {"trigger",
       "Changes that others wait for.",
       {{"build",
         Rest::none,
         "Has changes when its triggers are others than the last time.",
         would_change,
         {{"triggers", "null", "a dictionary"}, {"resource_id", "null", "kept by fettle"}}}},
       {},
       {}},
      {"template",
       "Templates.",
       {{"render",
         Rest::none,
         "Renders a template; the text is `rendered` of the new state.",
         as_always,
         {{"template_file_name", "null", "a path of one"},
          {"template", "null", "a template within `raw`"},
          {"variables", "null", "what the template sees"}}}},
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
          {"render", "null", "the pipe; else that of the run"}}}},
       {},
       {}},
      {"exec",
       "Functions that are no states.",
       {{"run",
         Rest::none,
         "Calls a function. Its answer is the new state; what it changed is not known.",
         "None",
         {{"path", "null", "the function; else the name"},
          {"args", "null", "a list"},
          {"kwargs", "null", "a dictionary"}}},
        {"stateful",
         Rest::none,
         "Looks, calls a function, and looks again.",
         "None",
         {{"path", "", "the function"},
          {"resource_id", "null", "how its provider calls the resource"},
          {"get_path", "null", "the function that looks"},
          {"args", "null", "a list"},
          {"kwargs", "null", "a dictionary"},
          {"get_args", "null", "a list; else none"},
          {"get_kwargs", "null", "a dictionary; else those of `kwargs` that it takes"},
          {"esm_state_id", "null", "whose memory this is: an ID"},
          {"esm_state_name", "null", "and a name"}}}},
       {},
       {}},
      {"sls",
       "Files of states as one state.",
       {{"run",
         Rest::any,
         "Runs files of states with parameters of their own. Their IDs begin with its name and a "
         "dot; further arguments are parameters.",
         "the same, of each state in it",
         {{"sls_sources", "", "a list of refs"},
          {"params", "null", "a list of refs of parameters"},
          {"esm_params", "null", "parameters, too"}}}},
       {},
       {}},
      {"acct",
       "Credentials.",
       {{"profile",
         Rest::any,
         "Makes a profile for the rest of the run. Who uses it needs this state.",
         as_always,
         {{"provider_name", "", "the provider that it is for"},
          {"profile_name", "null", "its name; else that of the state"},
          {"source_profile", "null", "the profile that it begins with"}}}},
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
                                  std::string(parameter.text)});
  }
  return made;
}

}  // namespace

const Catalogue& builtin_states() {
  static const std::unique_ptr<Catalogue> catalogue = [] {
    std::vector<Module> modules;
    for (const ModuleRow& row : rows())
      modules.push_back(module_of(row));
    return catalogue_of(std::move(modules));
  }();
  return *catalogue;
}

}  // namespace fettle::states
