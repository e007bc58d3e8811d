#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/engine_needs.h"
#include "kinds/kinds.h"
#include "kinds/task.h"
#include "packages/instructions/image.h"
#include "packages/instructions/recipe.h"
#include "packages/names.h"
#include "packages/service_config.h"
#include "packages/types.h"

namespace fettle {
namespace {

using starlark::Want;

struct TaskFiles {
  std::string path, name;
};

/// `store`: paths or `StoreSpec` values; what has no name gets one.
Result<std::vector<TaskFiles>> stored_files(InstructionCall& call, size_t argument) {
  std::vector<TaskFiles> stored;
  if (!call.has(argument))
    return stored;
  for (size_t i = 0; i < starlark::length_of(call.arguments[argument]); ++i) {
    const starlark::Value item = starlark::item_of(call.arguments[argument], i);
    TaskFiles file;
    if (starlark::type_of(item) == starlark::Type::text) {
      file.path = starlark::text_of(item);
    } else if (starlark::record_type_of(item) == &types::store_spec) {
      file.path = starlark::text_of(*starlark::field_of(item, "src"));
      if (const auto name = starlark::field_of(item, "name");
          name && starlark::type_of(*name) == starlark::Type::text)
        file.name = starlark::text_of(*name);
    } else {
      return user_error("`store` must be a list of paths or StoreSpec values");
    }
    if (file.path.empty())
      call.draft.finding("a path to store is empty");
    if (file.name.empty())
      file.name = call.draft.unnamed_artifact();
    if (Status fine = check_artifact_name(file.name); !fine)
      call.draft.finding(fine.error().message);
    stored.push_back(std::move(file));
  }
  return stored;
}

/// The places of the common arguments, in which the two instructions differ.
struct Places {
  size_t image, name, files, store, wait, codes, skip, env, node_selectors, tolerations, privileged,
      host_pid, bind_mounts;
};
constexpr size_t nowhere = ~size_t{0};

/// Checks the contents of given dicts and lists.
Status check_collections(InstructionCall& call, const Places& places) {
  const auto given = [&](size_t i) { return i != nowhere && call.has(i); };
  const std::pair<const char*, size_t> dicts[] = {{"node_selectors", places.node_selectors},
                                                  {"bind_mounts", places.bind_mounts}};
  for (const auto& [name, i] : dicts)
    if (given(i))
      TRY(types::check_text_dict(name, call.arguments[i]));
  if (given(places.env))
    TRY(types::check_variables(call.arguments[places.env]));
  if (given(places.files))
    TRY(types::check_files(call.arguments[places.files]));
  if (given(places.tolerations))
    TRY(types::check_tolerations(call.arguments[places.tolerations]));
  return {};
}

Result<starlark::Value> want_task(InstructionCall& call, Value command, const Places& places,
                                  std::string_view default_image) {
  Draft& draft = call.draft;
  const auto given = [&](size_t i) { return i != nowhere && call.has(i); };
  TRY(check_collections(call, places));
  ContainerTask wanted;
  if (given(places.image)) {
    const WantedImage image = TRY(wanted_image(call, call.arguments[places.image]));
    wanted.image = image.reference;
    wanted.image_id = image.id;
  } else {
    wanted.image = default_image;
    wanted.image_id = draft.image(std::string(default_image));
  }
  wanted.command = std::move(command);
  const auto take = [&](auto& member, size_t i) -> Status {
    if (const Value value = given(i) ? TRY(call.plain(i)) : Value(); !value.is_null())
      member = value;
    return {};
  };
  TRY(take(wanted.env, places.env));
  if (given(places.files))
    wanted.files = TRY(file_attributes(draft, call.arguments[places.files]));
  const std::vector<TaskFiles> stored = TRY(stored_files(call, places.store));
  std::vector<Value> paths;
  for (const TaskFiles& file : stored)
    paths.push_back(write(StoredPath{file.path}));
  wanted.store = Value::list(std::move(paths));
  if (!call.arguments[places.wait].is_unset()) {
    // None means no limit.
    wanted.timeout = TRY(call.plain(places.wait));
    if (wanted.timeout.is_text())
      TRY(parse_waiting(wanted.timeout.view()).context("`wait`"));
  }
  if (given(places.codes))
    wanted.acceptable_codes = TRY(call.codes(places.codes));
  wanted.skip_code_check = given(places.skip) && call.flag(places.skip);
  TRY(take(wanted.node_selectors, places.node_selectors));
  TRY(take(wanted.tolerations, places.tolerations));
  wanted.privileged = given(places.privileged) && call.flag(places.privileged);
  wanted.host_pid = given(places.host_pid) && call.flag(places.host_pid);
  TRY(take(wanted.bind_mounts, places.bind_mounts));
  const std::string name =
      draft.action_name(given(places.name) ? call.text(places.name) : std::string("task"));
  draft.add_once("network", std::string(environment_network), Value::dict({}));
  check_reach(draft, "the task",
              {wanted.bind_mounts, wanted.privileged.get(), wanted.host_pid.get()});
  const Attributes attributes = TRY(task_kind().normalise(write(wanted)));
  {
    Resource& task = draft.add("task", name, attributes);
    draft.network(task);
  }
  starlark::HeapAccess heap = call.thread.heap();
  std::vector<starlark::Value> names;
  for (size_t i = 0; i < stored.size(); ++i) {
    Artifact left;
    left.source = "task";
    left.digest = Value::deferred({Part(Output{"task", name, cat("files.", i)})});
    draft.make_artifact(stored[i].name, left, Author::updater, true).driver = "host";
    names.push_back(heap.text(stored[i].name));
  }
  const Key key = draft.key("task", name);
  const std::vector<starlark::NamedValue> fields{
      {"code", heap.text(draft.references.to(key, "code"))},
      {"files_artifacts", heap.list(names)},
      {"output", heap.text(draft.references.to(key, "output"))}};
  return heap.structure(fields);
}

Result<starlark::Value> interpret_sh(InstructionCall& call) {
  const Value command = Value::list({"/bin/sh", "-c", TRY(call.plain(0))});
  static constexpr Places places{1, 2, 4, 5, 6, 7, 8, 3, 9, 10, 11, 12, 13};
  return want_task(call, command, places, "badouralix/curl-jq");
}

Result<starlark::Value> interpret_python(InstructionCall& call) {
  const Value script = TRY(call.plain(0));
  std::vector<Value> arguments;
  const Value given = TRY(call.plain(1)), packages = TRY(call.plain(2));
  const bool installs = packages.is_list() && !packages.items().empty();
  if (installs) {
    std::string names;
    for (const Value& package : packages.items()) {
      if (!package.is_text() || package.text().view().find('\'') != std::string_view::npos)
        return user_error("`packages` must be a list of names of packages");
      names += cat(" '", package.text(), "'");
    }
    // The script and its arguments are handed to the shell as they are: nothing has to be quoted.
    arguments = {"/bin/sh", "-c",
                 cat("pip install --quiet", names, " >/dev/null && exec python -c \"$0\" \"$@\""),
                 script};
  } else {
    arguments = {"python", "-c", script};
  }
  if (given.is_list())
    for (const Value& argument : given.items())
      arguments.push_back(argument.is_text() || argument.is_deferred() ? argument
                                                                       : Value(to_text(argument)));
  static constexpr Places places{3, 11, 4, 5, 6, 7, 8, nowhere, 9, 10, nowhere, nowhere, nowhere};
  return want_task(call, Value::list(std::move(arguments)), places, "python:3.11-alpine");
}

std::string task_line(const EndedStatement& ended) { return exec_line(ended.outputs("task")); }

}  // namespace

Instruction run_sh_instruction() {
  return {"run_sh",
          {{"run", Want::text},
           {"image??", Want::any},
           {"name??", Want::text},
           {"env_vars??", Want::dict},
           {"files??", Want::dict},
           {"store??", Want::list},
           {"wait?", Want::text | Want::none},
           {"acceptable_codes??", Want::list},
           {"skip_code_check??", Want::boolean},
           {"node_selectors??", Want::dict},
           {"tolerations??", Want::list},
           {"privileged??", Want::boolean},
           {"host_pid_namespace??", Want::boolean},
           {"bind_mounts??", Want::dict}},
          interpret_sh,
          [](const Value&) { return std::string("Running sh script"); },
          task_line};
}

Instruction run_python_instruction() {
  return {"run_python",
          {{"run", Want::text},
           {"args??", Want::list},
           {"packages??", Want::list},
           {"image??", Want::any},
           {"files??", Want::dict},
           {"store??", Want::list},
           {"wait?", Want::text | Want::none},
           {"acceptable_codes??", Want::list},
           {"skip_code_check??", Want::boolean},
           {"node_selectors??", Want::dict},
           {"tolerations??", Want::list},
           {"name??", Want::text}},
          interpret_python,
          [](const Value&) { return std::string("Running Python script"); },
          task_line};
}

}  // namespace fettle
