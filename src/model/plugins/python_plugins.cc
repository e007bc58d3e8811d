/// Plugins in Python: what a module has, and calls.

#include <algorithm>

#include "base/text.h"
#include "model/evaluate/plugin_context.h"
#include "model/plugins/failing.h"
#include "model/plugins/python_values.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

/// Stands for an argument that was not given: its default is in Python.
const Text not_given_text{"<default>"};
const Datum not_given = Datum::of(&not_given_text);

bool is_given(const Datum& argument) {
  return argument.tag != Tag::text || argument.text != &not_given_text;
}

/// The arguments as Python gets them: by position as far as there is no gap, then by name.
Result<Value> request_of(const PluginCall& call, const Plugin& plugin, Python& python,
                         size_t& size) {
  std::vector<Value> positional;
  std::vector<Entry> named;
  const auto lent = [&](const Datum& datum) {
    return lend_to_python(python, datum, python.wanted(plugin), size);
  };
  bool has_gap = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_given(call.arguments[i])) {
      has_gap = true;
      continue;
    }
    Value value = TRY(lent(call.arguments[i]));
    if (has_gap || plugin.parameters[i].is_named_only)
      named.push_back({fettle::Name(plugin.parameters[i].name), std::move(value)});
    else
      positional.push_back(std::move(value));
  }
  for (const Datum& datum : call.rest)
    positional.push_back(TRY(lent(datum)));
  for (const DictEntry& entry : call.named_rest)
    named.push_back({fettle::Name(entry.key->view), TRY(lent(entry.value))});
  std::vector<Entry> made{{"plugin", plugin.name}};
  if (!positional.empty())
    made.push_back({"args", Value::list(std::move(positional))});
  if (!named.empty())
    made.push_back({"named", Value::dict(std::move(named))});
  return Value::dict(std::move(made));
}

/// Answers what a plugin asks during its call.
class Answers {
 public:
  Answers(PluginCall& call, const Plugin& plugin, Python& python)
      : call_(call), wanted_(python.wanted(plugin)), python_(python) {}

  Result<Value> to(const Value& asked) {
    Program& program = call_.context.program();
    if (const Value* read = asked.find("read"))
      return attribute(*read, true);
    if (const Value* name = asked.find("entity"))
      return entity_for_python(program, to_text(*name));
    if (asked.find("project") != nullptr)
      return program.environment;
    if (asked.find("caller") != nullptr)
      return program.spaces[call_.node.at.file].name;  // namespaces and files have the same numbers
    if (const Value* id = asked.find("facts")) {
      const Value facts = program.facts ? TRY(program.facts()) : Value();
      const Value* const found = facts.is_dict() ? facts.find(to_text(*id)) : nullptr;
      return found == nullptr ? Value() : *found;
    }
    if (const Value* text = asked.find("warn")) {
      if (program.warn)
        program.warn(program.error_at(call_.node.at, to_text(*text)));
      return Value();
    }
    return user_error("the compile does not answer this");
  }

  /// What a plugin took from what Python knows already counts as read by this call, too.
  void note(const Value& reads) {
    if (reads.is_list())
      for (const Value& read : reads.items())
        (void)attribute(read, false);
  }

 private:
  Result<Value> attribute(const Value& read, bool is_asked) {
    const auto [instance, attribute_name] = TRY(asked_attribute(call_.context.instances(), read));
    const Symbol name = call_.context.program().symbols.intern(attribute_name);
    const uint32_t slot = instance->entity->slot(name);
    if (slot == no_slot)
      return Value::dict({{"missing", true}});
    const Member found = call_.context.member(instance, slot);
    if (found.state == Member::State::waits) {
      call_.is_early = true;
      return Value::dict({{"unset", true}});
    }
    if (found.state == Member::State::unset)
      return Value::dict({{"optional", no_option_text(*instance, slot)}});
    if (!is_asked)
      return Value();
    if (std::ranges::find(wanted_, name) == wanted_.end() && wanted_.size() < most_wanted)
      wanted_.push_back(name);
    size_t size = 0;
    Value value = TRY(lend_to_python(python_, found.value, wanted_, size));
    python_.tell(*instance, slot);
    return Value::dict({{"value", std::move(value)}});
  }

  std::string no_option_text(Instance& instance, uint32_t slot) const {
    const Program& program = call_.context.program();
    const Attribute& attribute = *instance.entity->slots[slot];
    return cat("Optional variable accessed that has no value (attribute `",
               attribute.owner->full_name, ".", program.symbols.name(attribute.name), "` of `",
               shown(program, Datum::of(&instance)), "`)");
  }

  static constexpr size_t most_wanted = 16;

  PluginCall& call_;
  std::vector<Symbol>& wanted_;
  Python& python_;
};

/// Takes the answer to one call.
bool take(PluginCall& call, Python& python, const Value& answer) {
  if (answer.bool_at("unset"))
    return call.fail("UnsetException: the plugin waits for a value that is there");
  if (answer.bool_at("unknown")) {
    call.met_unknown = true;
    return false;
  }
  if (answer.find("told") != nullptr) {
    call.told = to_text(answer.at("told"));
    return false;
  }
  if (answer.find("failed") != nullptr)
    return call.fail(with_trace(answer, "failed"));
  const Value* const result = answer.find("result");
  if (result == nullptr)
    return call.fail("the process of the plugins gave no answer");
  const Result<Datum> datum = take_from_python(call, python, *result);
  return datum ? call.give(*datum) : call.fail(cat("TypeError: ", datum.error().message));
}

/// How many calls go into one message. The first ones show what the others will ask for.
constexpr size_t most_together = 1000, first_together = 20;

/// The results of calls, fewer if they took long or their arguments are large. Error: one of them has
/// ended the process, or the first one's arguments are too large.
Result<Value> ask_for(std::span<WaitingCall> calls, Python& python) {
  PluginContext& context = calls[0].call.context;
  std::vector<Value> requests;
  size_t size = 0;
  for (const WaitingCall& one : calls) {
    Result<Value> request = request_of(one.call, *one.plugin, python, size);
    if (!request && requests.empty())
      return request.error();
    if (!request)
      break;
    requests.push_back(*std::move(request));
  }
  const size_t most = requests.size();
  const auto answer_to = [&](const Value& asked) -> Result<Value> {
    const int64_t number = asked.integer_at("of", -1);
    if (number < 0 || static_cast<size_t>(number) >= calls.size())
      return user_error("there is no such call");
    WaitingCall& one = calls[static_cast<size_t>(number)];
    Result<Value> answer = Value();
    context.on_behalf_of(*one.task,
                         [&] { answer = Answers(one.call, *one.plugin, python).to(asked); });
    return answer;
  };
  const Value answer = TRY(python.ask(Value::dict({{"calls", Value::list(std::move(requests))}}),
                                      context.program().plugin_time_limit, answer_to,
                                      [&](std::string_view line) { context.print(line); }));
  const Value& results = answer.at("results");
  if (!results.is_list() || results.items().empty() || results.items().size() > most)
    return world_error("the process of the plugins gave no answer");
  return results;
}

/// Makes calls, as many in one message as may be. If the process ends, each of them is made alone,
/// so that the one that ended it is known.
void run_waiting(std::span<WaitingCall> calls) {
  Python& python = python_of(calls[0].call.context.program());
  size_t most = first_together, alone = 0;
  while (!calls.empty()) {
    const std::span<WaitingCall> some = calls.first(alone > 0 ? 1 : std::min(calls.size(), most));
    most = most_together;
    const Result<Value> results = ask_for(some, python);
    if (!results && some.size() > 1) {
      alone = some.size();
      continue;
    }
    const size_t count = results ? results->items().size() : 1;
    for (size_t i = 0; i < count; ++i) {
      WaitingCall& one = calls[i];
      one.call.context.on_behalf_of(*one.task, [&] {
        if (results)
          Answers(one.call, *one.plugin, python).note(results->items()[i].at("reads"));
        one.has_run = results ? take(one.call, python, results->items()[i])
                              : one.call.fail(to_string(results.error()));
      });
    }
    calls = calls.subspan(count);
    alone -= std::min(alone, count);
  }
}

bool run_python(PluginCall& call, const Plugin& plugin) {
  PluginContext& context = call.context;
  Python& python = python_of(context.program());
  Answers answers(call, plugin, python);
  size_t size = 0;
  Result<Value> request = request_of(call, plugin, python, size);
  if (!request)
    return call.fail(request.error().message);
  const Result<Value> answer = python.ask(
      Value::dict({{"calls", Value::list({*std::move(request)})}}),
      context.program().plugin_time_limit, [&](const Value& asked) { return answers.to(asked); },
      [&](std::string_view line) { context.print(line); });
  if (!answer)
    return call.fail(to_string(answer.error()));
  const Value& results = answer->at("results");
  if (!results.is_list() || results.items().size() != 1)
    return call.fail("the process of the plugins gave no answer");
  answers.note(results.items()[0].at("reads"));
  return take(call, python, results.items()[0]);
}

/// Reads one parameter. Returns what is wrong with it, or nothing.
std::string add_parameter(Program& program, Space& space, const Value& told, Plugin& plugin) {
  const std::string_view kind = told.text_at("kind"), type = told.text_at("type");
  PluginParameter made{std::string(told.text_at("name")), {}, {}, kind == "named"};
  const std::optional<PluginType> read = read_plugin_type(program, space, type);
  if (!read)
    return cat("could not find type ", type, " in namespace ", space.name, " (of ", made.name, ")");
  made.type = *read;
  if (told.bool_at("default"))
    made.initial = not_given;
  if (kind == "rest")
    plugin.rest = std::move(made);
  else if (kind == "named_rest")
    plugin.named_rest = std::move(made);
  else
    plugin.parameters.push_back(std::move(made));
  return {};
}

std::shared_ptr<Plugin> made_of(Program& program, Space& space, const Value& told) {
  if (told.find("problem") != nullptr)
    return failing_plugin(to_text(told.at("problem")));
  auto made = std::make_shared<Plugin>();
  made->allows_unknown = told.bool_at("allow_unknown");
  for (const Value& parameter : told.at("parameters").items())
    if (std::string wrong = add_parameter(program, space, parameter, *made); !wrong.empty())
      return failing_plugin(std::move(wrong));
  const std::string_view returns = told.text_at("returns");
  const std::optional<PluginType> type = read_plugin_type(program, space, returns);
  if (!type)
    return failing_plugin(
        cat("could not find type ", returns, " in namespace ", space.name, " (of the result)"));
  made->returns = *type;
  run_in_python(*made);
  return made;
}

/// Why a module cannot be loaded, and what to do about it.
std::string problem_text(const std::string& module, const Value& problem) {
  std::string text =
      cat("the Python of module ", module, " cannot be loaded: ", with_trace(problem, "text"));
  const std::string_view missing = problem.text_at("missing");
  if (!missing.empty() && !missing.starts_with("inmanta"))
    text +=
        cat("\n`fettle project install` installs what the requirements of the modules name; "
            "`python3 -m pip install ",
            missing.substr(0, missing.find('.')), "` may do for this one");
  return text;
}

}  // namespace

void run_in_python(Plugin& plugin) {
  plugin.run = [made = &plugin](PluginCall& call) { return run_python(call, *made); };
  plugin.run_together = run_waiting;
}

std::shared_ptr<Plugin> find_python_plugin(Program& program, Space& space, const Path& folder,
                                           std::string_view name) {
  auto& looked = program.plugin_files[cat("python in ", folder.string())];
  if (looked == nullptr)
    looked = std::make_shared<bool>(Python::is_in(folder));
  if (!*std::static_pointer_cast<bool>(looked))
    return nullptr;
  const std::string module = space.module == nullptr ? space.name : space.module->name;
  const Result<Value>& found = python_of(program).module(module, program.plugin_time_limit);
  if (!found)
    return failing_plugin(
        cat("the Python of module ", module, " cannot be loaded: ", to_string(found.error())));
  const std::string full_name = cat(space.name, "::", name);
  if (const Value& plugins = found->at("plugins"); plugins.is_list())
    for (const Value& plugin : plugins.items())
      if (plugin.text_at("name") == full_name)
        return made_of(program, space, plugin);
  if (const Value* problem = found->find("problem"))
    return failing_plugin(problem_text(module, *problem));
  return nullptr;
}

}  // namespace fettle::model
