/// `std::template`: Jinja2 over the values of the model. Without arguments by name the variables of
/// the caller are visible; every plugin is a filter (`ns.name`).

#include "base/file.h"
#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"
#include "model/std/places.h"
#include "template/jinja/jinja.h"

namespace fettle::model {
namespace {

jinja::Value to_jinja(PluginCall& call, const Datum& datum);

/// An instance of the model in a template: its attributes are read when they are asked for.
class InstanceObject : public jinja::Object {
 public:
  InstanceObject(PluginCall& call, Datum datum) : call_(call), datum_(datum) {}
  std::string type_name() const override { return datum_.instance->entity->full_name; }
  std::string text() const override { return text_of(call_.context.program(), datum_); }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    const uint32_t slot =
        datum_.instance->entity->slot(call_.context.program().symbols.intern(name));
    if (slot == no_slot)
      return std::optional<jinja::Value>();
    Datum value;
    if (!call_.context.read_or_null(datum_.instance, slot, value))
      return user_error("the attribute is not set yet");
    return std::optional<jinja::Value>(to_jinja(call_, value));
  }
  const Datum& datum() const { return datum_; }

 private:
  PluginCall& call_;
  Datum datum_;
};

/// What is not known: it may be handed on and not looked at.
class UnknownObject : public jinja::Object {
 public:
  std::string type_name() const override { return "Unknown"; }
  std::string text() const override { return "<<undefined>>"; }
};

jinja::Value to_jinja(PluginCall& call, const Datum& datum) {
  if (!Budget::current().spend(4))
    return {};
  switch (datum.tag) {
    case Tag::boolean:
      return datum.boolean;
    case Tag::integer:
      return datum.integer;
    case Tag::large:
      return datum.view();
    case Tag::floating:
      return datum.floating;
    case Tag::text:
      return datum.view();
    case Tag::list: {
      jinja::Items items;
      for (const Datum& item : datum.list->items)
        items.push_back(to_jinja(call, item));
      return jinja::Value::list(std::move(items));
    }
    case Tag::dict: {
      jinja::Value made = jinja::Value::dict();
      for (const DictEntry& entry : datum.dict->entries)
        made.dict_data().set(jinja::Value(entry.key->view), to_jinja(call, entry.value));
      return made;
    }
    case Tag::instance:
      return jinja::Value(jinja::ObjectPtr(std::make_shared<InstanceObject>(call, datum)));
    case Tag::unknown:
      return jinja::Value(jinja::ObjectPtr(std::make_shared<UnknownObject>()));
    default:
      return {};
  }
}

Result<Datum> from_jinja(PluginCall& call, const jinja::Value& value) {
  if (value.is_none())
    return Datum::null();
  if (value.is_bool())
    return Datum::of(value.boolean());
  if (value.is_integer())
    return Datum::of(value.integer());
  if (value.is_real())
    return Datum::of(value.real());
  if (value.is_text())
    return call.context.make_text(value.text());
  if (value.is_undefined())
    return jinja::undefined_error(value);
  if (value.is_list()) {
    std::vector<Datum> items;
    for (const jinja::Value& item : value.list().items)
      items.push_back(TRY(from_jinja(call, item)));
    return call.context.make_list(items);
  }
  if (value.is_dict()) {
    std::vector<DictEntry> entries;
    for (const auto& [key, item] : value.dict_data().entries)
      entries.push_back(
          {call.context.make_text(jinja::text_of(key)).text, TRY(from_jinja(call, item))});
    return call.context.make_dict(entries);
  }
  if (const auto* instance = dynamic_cast<const InstanceObject*>(value.object().get()))
    return instance->datum();
  return Datum::unknown();
}

/// A plugin as a filter.
jinja::Function filter_of(PluginCall& call, const Plugin& plugin) {
  return [&call, &plugin](jinja::Arguments& arguments) -> Result<jinja::Value> {
    PluginGiven given;
    for (const jinja::Value& value : arguments.positional)
      given.positional.push_back(TRY(from_jinja(call, value)));
    for (const auto& [name, value] : arguments.named)
      given.named.push_back({call.context.make_text(name).text, TRY(from_jinja(call, value))});
    Datum result;
    std::string error;
    if (!run_plugin(call, plugin, given, result, error))
      return user_error(error);
    return to_jinja(call, result);
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
          return std::optional<jinja::Value>(to_jinja(call, entry.value));
      return std::optional<jinja::Value>();
    }
    Datum value;
    switch (call.context.read_visible(call.node, call.frame, name, value)) {
      case Step::done:
        return std::optional<jinja::Value>(to_jinja(call, value));
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
    PluginRow{"template", "(path: string, **kwargs: any) -> string", render_template},
};

}  // namespace

std::span<const PluginRow> template_plugins() { return template_rows; }

}  // namespace fettle::model
