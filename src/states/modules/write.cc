/// `data.write`, `template.render`, `trigger.build`: the results of values and templates.

#include <algorithm>

#include "base/text.h"
#include "states/builtins.h"
#include "states/modules/functions.h"
#include "value/changes.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/python.h"

namespace fettle::states {
namespace {

Result<std::optional<std::string>> read(const ModuleCall& call, const std::string& path) {
  if (call.world == nullptr || !call.world->read)
    return user_error("no files are available here");
  return call.world->read(path);
}

/// The template that the arguments name. None: they name no template.
Result<std::optional<std::string>> template_of(const ModuleCall& call) {
  if (!call.at("template").is_null())
    return std::optional(TRY(text_argument(call, "template")));
  if (call.at("template_file_name").is_null())
    return std::optional<std::string>();
  const std::string path = TRY(text_argument(call, "template_file_name"));
  std::optional<std::string> text = TRY(read(call, path));
  if (!text)
    return user_error(cat("there is no template `", path, "`"));
  return text;
}

/// Marks a text in which somebody's secret may stand as a secret.
Value guarded(std::string text, const Value& variables) {
  return variables.has_secret() ? Value::secret(text) : Value(text);
}

Result<std::string> rendered(const ModuleCall& call, std::string_view text,
                             const Value& variables) {
  Host host;
  host.draw = call.world == nullptr ? nullptr : call.world->draw;
  jinja::Engine engine(
      template_environment([&call](const std::string& name) { return read(call, name); }, host));
  Result<std::string> made =
      engine.render_text("template", text, jinja::names_of(jinja::Value::of(reveal(variables))));
  if (!made) {
    Mask mask;  // its words may quote a secret
    mask.add_marked(variables);
    return user_error(cat("the template cannot be rendered: ", mask.text(to_string(made.error()))));
  }
  return made;
}

Answer template_render(const ModuleCall& call) {
  const std::optional<std::string> text = TRY(template_of(call));
  if (!text)
    return user_error("`template` or `template_file_name` must be given");
  const Value variables = TRY(dict_argument(call, "variables"));
  const Value made = guarded(TRY(rendered(call, *text, variables)), variables);
  const Value state = Value::dict({{"rendered", made}});
  const Value ret = ret_of(true, "", Value::dict({}), state);
  return ModuleAnswer{.ret = with(with(ret, "changes", state), "comment",
                                  Value::list({"Template rendering is success"}))};
}

Answer data_write(const ModuleCall& call) {
  const Value parameters = TRY(dict_argument(call, "parameters"));
  const std::string path =
      call.at("file_name").is_null() ? call.name : TRY(text_argument(call, "file_name"));
  const std::optional<std::string> text = TRY(template_of(call));
  const std::string content =
      text ? TRY(rendered(call, *text, Value::dict({{"parameters", parameters}})))
           : python::json_dumps(reveal(parameters), 4);
  const auto state_of = [&](const std::string& bytes) {
    return Value::dict({{"file_name", path}, {"content", guarded(bytes, parameters)}});
  };
  const std::optional<std::string> before = TRY(read(call, path));
  const Value old_state = before ? state_of(*before) : Value();
  const bool differs = before != content;
  if (call.is_test)
    return ModuleAnswer{.ret = ret_of(differs ? Verdict() : Verdict(true),
                                      differs ? cat("Would write to file '", path, "'.")
                                              : cat(path, " is as described"),
                                      old_state, state_of(content))};
  if (!call.world->write)
    return user_error("writing is not possible here");
  TRY(call.world->write(path, content));
  return ModuleAnswer{
      .ret = ret_of(true, cat("Wrote to file '", path, "'."), old_state, state_of(content))};
}

/// Reads a dict, or a list of dicts. The first one that has a key counts, as in Idem.
Result<Value> triggers_of(const ModuleCall& call) {
  const Value& given = call.at("triggers");
  if (!given.is_list())
    return dict_argument(call, "triggers");
  std::vector<Entry> entries;
  for (const Value& one : given.items()) {
    if (!one.is_dict())
      return user_error(
          cat("`triggers` must be a dictionary, or a list of them, not ", write_json(given)));
    for (const Entry& entry : one.entries())
      if (std::ranges::find(entries, entry.key, &Entry::key) == entries.end())
        entries.push_back(entry);
  }
  return Value::dict(std::move(entries));
}

Answer trigger_build(const ModuleCall& call) {
  const Value triggers = TRY(triggers_of(call));
  const Value& known = call.old_state;
  const Value before = known.is_dict() ? known.at("triggers") : Value::dict({});
  const Value after = Value::dict({{"triggers", triggers}, {"resource_id", call.name}});
  Value changes = changes_between(before, triggers);
  const bool differs = !is_empty(changes);
  // An empty side is left out, as Idem's `deep_diff` does.
  if (differs && is_empty(changes.at("old")))
    changes = Value::dict({{"new", changes.at("new")}});
  const Verdict verdict = differs && call.is_test ? Verdict() : Verdict(true);
  const std::string comment =
      cat("Trigger '", call.name, "' built with ", differs ? "changes" : "no changes");
  return ModuleAnswer{.ret = with(ret_of(verdict, Value::list({comment}), known, after), "changes",
                                  std::move(changes))};
}

}  // namespace

ModuleRow data_module() {
  return {"data",
          "Files written from values.",
          {{"write",
            Rest::none,
            data_write,
            "Writes a file from a template, or the parameters as JSON, in every run.",
            would_change,
            {{"parameters", "", "a dictionary: `parameters` in the template", Shape::dict},
             {"file_name", "null", "the path (default: the name)", Shape::text},
             {"template", "null", "a template in a `raw` block", Shape::text},
             {"template_file_name", "null", "the path of a template", Shape::text}}}}};
}

ModuleRow trigger_module() {
  return {"trigger",
          "Changes that others wait for.",
          {{"build",
            Rest::none,
            trigger_build,
            "Has changes when its triggers differ from the last run.",
            would_change,
            {{"triggers", "null", "a dictionary, or a list of them"},
             {"resource_id", "null", "kept by fettle"}}}},
          {},
          {},
          true};
}

ModuleRow template_module() {
  return {"template",
          "Templates.",
          {{"render",
            Rest::none,
            template_render,
            "Renders a template into `rendered` of the new state.",
            as_always,
            {{"template_file_name", "null", "the path of a template", Shape::text},
             {"template", "null", "a template in a `raw` block", Shape::text},
             {"variables", "null", "the variables of the template", Shape::dict}}}}};
}

}  // namespace fettle::states
