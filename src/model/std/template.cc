/// `std::template`: Jinja2 with the values of the model. Without named arguments, the caller's
/// variables are visible; every plugin is a filter (`ns.name`).

#include "base/file.h"
#include "base/text.h"
#include "model/std/groups.h"
#include "model/std/places.h"
#include "model/std/template_values.h"

namespace fettle::model {
namespace {

/// A plugin as a filter.
jinja::Function filter_of(PluginCall& call, const Plugin& plugin) {
  return [&call, &plugin](jinja::Arguments& arguments) -> Result<jinja::Value> {
    PluginArguments given;
    for (const jinja::Value& value : arguments.positional)
      given.positional.push_back(TRY(from_jinja(call, value)));
    for (const auto& [name, value] : arguments.named)
      given.named.push_back({call.context.make_text(name).text, TRY(from_jinja(call, value))});
    Datum result;
    std::string error;
    if (!run_plugin(call, plugin, given, result, error))
      return user_error(error);
    return to_jinja(call, result, plugin.name);
  };
}

/// The text of a template: `module/path`, or `./path` in the module that calls.
Result<std::optional<std::string>> load_template(const Program& program, std::string_view here,
                                                 const std::string& name) {
  const size_t slash = name.find('/');
  std::string_view module = std::string_view(name).substr(0, slash);
  if (module == ".")
    module = here;
  const Module* const found = find_module(program, module);
  if (found == nullptr || slash == name.npos)
    return std::optional<std::string>();
  const Path rest(name.substr(slash + 1));
  for (const Path& step : rest)
    if (step == "..")
      return std::optional<std::string>();
  const Path file = found->folder / "templates" / rest;
  if (!std::filesystem::is_regular_file(file))
    return std::optional<std::string>();
  return std::optional<std::string>(TRY(read_file(file)));
}

bool render_template(PluginCall& call) {
  Program& program = call.context.program();
  const std::string here(module_of(program, call.node.at.file));
  std::string path(call.text(0));
  if (path.starts_with("./")) {
    if (here == "__config__")
      return call.fail(cat("Exception: Unable to determine current module for path ", path,
                           ", called from __config__"));
    path.replace(0, 1, here);
  }
  jinja::Environment environment;
  const Budget& budget = call.context.budget();
  if (const uint64_t most = budget.limits().bytes; most != 0)
    environment.limits.memory = std::max<uint64_t>(most - std::min(most, budget.bytes()), 1);
  if (budget.limits().steps != 0)
    environment.limits.steps = std::min(environment.limits.steps, budget.limits().steps);
  environment.cancelled = budget.limits().cancelled;
  environment.load = [&](const std::string& name) { return load_template(program, here, name); };
  environment.find_filter = [&](const std::string& name) -> jinja::Function {
    const size_t dot = name.rfind('.');
    Space* const space =
        dot == name.npos ? nullptr : program.space(replace_all(name.substr(0, dot), ".", "::"));
    const Plugin* const plugin =
        space == nullptr ? nullptr : find_plugin(program, *space, name.substr(dot + 1));
    return plugin == nullptr ? jinja::Function() : filter_of(call, *plugin);
  };
  const jinja::Lookup names = [&](std::string_view name) -> Result<std::optional<jinja::Value>> {
    if (!call.named_rest.empty()) {
      for (const DictEntry& entry : call.named_rest)
        if (entry.key->view == name)
          return std::optional<jinja::Value>(to_jinja(call, entry.value, name));
      return std::optional<jinja::Value>();
    }
    Datum value;
    switch (call.context.read_visible(call.node, call.frame, name, value)) {
      case Step::done:
        return std::optional<jinja::Value>(to_jinja(call, value, name));
      case Step::wait:
        return user_error("the variable is not set yet");
      case Step::fail:
        break;
    }
    return std::optional<jinja::Value>();
  };
  jinja::Engine engine(std::move(environment));
  const Result<std::string> made = engine.render(path, names);
  call.context.budget().spend(engine.budget().steps());
  if (!call.exception.empty())
    return false;
  if (made)
    return call.give_text(*made);
  const Error& error = made.error();
  const std::string where = error.where.line > 0 && !error.where.file.empty()
                                ? cat(" (", error.where.file, ":", error.where.line, ")")
                                : std::string();
  return call.fail(
      cat(replace_all(error.message, "jinja2.exceptions.UndefinedError: ", ""), where));
}

constexpr std::array template_rows{
    PluginRow{"template", "(path: string, **kwargs: object) -> string", render_template},
};

}  // namespace

std::span<const PluginRow> template_plugins() { return template_rows; }

}  // namespace fettle::model
