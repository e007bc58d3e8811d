/// Calls of plugins: arguments are bound as in Python and checked, and errors are reported.

#include "model/evaluate/calls.h"

#include "base/text.h"
#include "model/evaluate/casts.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/plugin.h"
#include "model/evaluate/plugin_context.h"
#include "model/program/text_form.h"
#include "model/values/numbers.h"

namespace fettle::model {

bool PluginCall::has_room(uint64_t bytes) {
  Budget& budget = context.budget();
  return (budget.spend(1 + bytes / 256) && budget.has_room(bytes)) || fail(budget.refusal());
}

namespace {

std::string and_list(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 < names.size() ? ", " : " and ", "'", names[i], "'");
  return text;
}

/// Matches arguments with parameters. Returns the text of an error, or an empty one.
class Binder {
 public:
  Binder(const Plugin& plugin, PluginArguments& given, PluginCall& call)
      : plugin_(plugin), given_(given), call_(call) {}

  std::string bind() {
    call_.arguments.assign(plugin_.parameters.size(), Datum());
    const size_t positions = static_cast<size_t>(
        std::count_if(plugin_.parameters.begin(), plugin_.parameters.end(),
                      [](const PluginParameter& one) { return !one.is_named_only; }));
    const size_t count = given_.positional.size();
    if (count > positions && !plugin_.rest)
      return cat(plugin_.name, "() takes ", positions, " positional arguments but ", count,
                 count == 1 ? " was given" : " were given");
    for (size_t i = 0; i < count; ++i)
      if (i < positions)
        call_.arguments[i] = given_.positional[i];
      else
        call_.rest.push_back(given_.positional[i]);
    if (std::string error = missing(false); !error.empty())
      return error;
    if (std::string error = missing(true); !error.empty())
      return error;
    for (const DictEntry& entry : given_.named)
      if (std::string error = put(entry); !error.empty())
        return error;
    return {};
  }

 private:
  std::string put(const DictEntry& entry) {
    const std::string_view name = entry.key->view;
    for (size_t i = 0; i < plugin_.parameters.size(); ++i)
      if (plugin_.parameters[i].name == name) {
        if (call_.arguments[i].is_set())
          return cat(plugin_.name, "() got multiple values for argument '", name, "'");
        call_.arguments[i] = entry.value;
        return {};
      }
    for (const DictEntry& other : call_.named_rest)
      if (other.key->view == name)
        return cat(plugin_.name, "() got multiple values for keyword argument '", name, "'");
    if (!plugin_.named_rest)
      return cat(plugin_.name, "() got an unexpected keyword argument: '", name, "'");
    call_.named_rest.push_back(entry);
    return {};
  }

  bool is_named(std::string_view name) const {
    return std::any_of(given_.named.begin(), given_.named.end(),
                       [&](const DictEntry& entry) { return entry.key->view == name; });
  }

  std::string missing(bool is_named_only) {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < plugin_.parameters.size(); ++i) {
      const PluginParameter& parameter = plugin_.parameters[i];
      if (parameter.is_named_only == is_named_only && !call_.arguments[i].is_set() &&
          !parameter.initial.is_set() && !is_named(parameter.name))
        names.push_back(parameter.name);
    }
    if (names.empty())
      return {};
    return cat(plugin_.name, "() missing ", names.size(), " required ",
               is_named_only ? "keyword-only" : "positional", " argument",
               names.size() == 1 ? "" : "s", ": ", and_list(names));
  }

  const Plugin& plugin_;
  PluginArguments& given_;
  PluginCall& call_;
};

/// Checks given arguments against their types, and fills in missing ones. Returns reasons, or none.
std::vector<Reason> check(PluginContext& context, const Plugin& plugin, PluginCall& call) {
  Reason why;
  const auto refuse = [&](const PluginParameter& parameter, const Datum& value) {
    const std::string problem =
        value.tag == Tag::reference
            ? " is a reference. To allow references, use `| Reference[...]` in your type "
              "annotation."
            : cat(" has incompatible type. Expected type: ", parameter.type.text);
    return std::vector<Reason>{{cat("Value ", quoted(context.program(), value), " for argument ",
                                    parameter.name, " of plugin ", plugin.name, problem)},
                               std::move(why)};
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    Datum& value = call.arguments[i];
    if (!value.is_set())
      value = plugin.parameters[i].initial;
    else if (!accepts(context, plugin.parameters[i].type, value, why))
      return refuse(plugin.parameters[i], value);
  }
  for (const Datum& value : call.rest)
    if (!accepts(context, plugin.rest->type, value, why))
      return refuse(*plugin.rest, value);
  for (const DictEntry& entry : call.named_rest)
    if (!accepts(context, plugin.named_rest->type, entry.value, why))
      return refuse(*plugin.named_rest, entry.value);
  return {};
}

/// How much of an argument may be read: its items, entries, or bytes.
uint64_t size_of(const Datum& value) {
  switch (value.tag) {
    case Tag::list:
      return value.list->items.size() * sizeof(Datum);
    case Tag::dict:
      return value.dict->entries.size() * sizeof(DictEntry);
    case Tag::text:
    case Tag::large:
      return value.view().size();
    default:
      return 0;
  }
}

/// Every plugin may read all its arguments, and make a copy of them.
bool may_read(PluginCall& call) {
  uint64_t size = 0;
  for (const Datum& value : call.arguments)
    size += size_of(value);
  for (const Datum& value : call.rest)
    size += size_of(value);
  for (const DictEntry& entry : call.named_rest)
    size += size_of(entry.value);
  return call.has_room(2 * size);
}

bool has_unknown(const PluginCall& call) {
  const auto is_unknown = [](const Datum& value) { return value.tag == Tag::unknown; };
  return std::any_of(call.arguments.begin(), call.arguments.end(), is_unknown) ||
         std::any_of(call.rest.begin(), call.rest.end(), is_unknown) ||
         std::any_of(call.named_rest.begin(), call.named_rest.end(),
                     [](const DictEntry& entry) { return entry.value.tag == Tag::unknown; });
}

/// Why a call failed, the outermost reason first, and how important that is.
struct CallFailure {
  std::vector<Reason> reasons;
  Importance importance = Importance::other;
};

std::vector<Reason> reasons_of(const Plugin& plugin, PluginCall& call) {
  if (!call.told.empty())
    return {{cat("PluginException in plugin ", plugin.name, "\n", call.told)}};
  std::vector<Reason> made{{cat("Exception in plugin ", plugin.name), "", Reason::Kind::exception},
                           {std::move(call.exception)}};
  std::ranges::move(call.causes, std::back_inserter(made));
  return made;
}

enum class Readiness : uint8_t { ready, given, failed };

/// Binds and checks the arguments. An unknown one gives the result at once.
Readiness prepare_call(const Plugin& plugin, PluginArguments& given, PluginCall& call,
                       CallFailure& told) {
  if (std::string error = Binder(plugin, given, call).bind(); !error.empty()) {
    told.reasons = {{std::move(error)}};
    return Readiness::failed;
  }
  if (!plugin.allows_unknown && has_unknown(call)) {
    call.give(Datum::unknown());
    return Readiness::given;
  }
  if (!may_read(call)) {
    told = {reasons_of(plugin, call), Importance::plugin};
    return Readiness::failed;
  }
  told = {check(call.context, plugin, call), Importance::argument};
  return told.reasons.empty() ? Readiness::ready : Readiness::failed;
}

/// Checks what a plugin gave.
bool finish_call(const Plugin& plugin, PluginCall& call, bool has_run, CallFailure& told) {
  PluginContext& context = call.context;
  if (call.met_unknown && !call.is_early)
    return call.give(Datum::unknown());
  if (!has_run) {
    told = {reasons_of(plugin, call), Importance::plugin};
    return false;
  }
  Reason why;
  if (accepts(context, plugin.returns, call.result, why))
    return true;
  told.reasons = {
      {cat("Return value ", text_of(context.program(), call.result), " of plugin ", plugin.name,
           " has incompatible type. Expected type: ", plugin.returns.text)},
      std::move(why)};
  return false;
}

/// One call, from the given arguments to the checked result.
bool run_call(const Plugin& plugin, PluginArguments& given, PluginCall& call, CallFailure& told) {
  const Readiness readiness = prepare_call(plugin, given, call, told);
  if (readiness != Readiness::ready)
    return readiness == Readiness::given;
  call.missing = call.context.missing();
  const bool has_run = plugin.run(call);
  call.is_early = call.is_waiting();
  return finish_call(plugin, call, has_run, told);
}

}  // namespace

int64_t PluginCall::integer(size_t index) const { return as_integer(arguments[index]); }
bool PluginCall::give_text(std::string_view text) { return give(context.make_text(text)); }
bool PluginCall::give_list(std::span<const Datum> items) { return give(context.make_list(items)); }

bool PluginCall::is_waiting() const { return context.missing() > missing; }

bool PluginCall::fail(std::string with) {
  exception = std::move(with);
  return false;
}

bool PluginCall::read(const Datum& object, std::string_view name, Datum& value) {
  if (object.tag != Tag::instance)
    return fail(
        cat("AttributeError: '", python_type(object), "' object has no attribute '", name, "'"));
  const uint32_t slot = object.instance->entity->slot(context.program().symbols.intern(name));
  if (slot == no_slot)
    return fail(cat("AttributeError: (None, '", name, "')"));
  return context.read_attribute(object.instance, slot, value, node.at) == Step::done;
}

Step Calls::call(const Call& node, Frame* frame, Datum& value) {
  return node.plugin != nullptr ? call_plugin(node, frame, value) : call_type(node, frame, value);
}

Step Calls::call_type(const Call& node, Frame* frame, Datum& value) {
  std::string shown;
  for (const Argument& argument : node.arguments)
    shown += cat(shown.empty() ? "" : ",", constraint_text(program_, argument.value));
  for (const Argument& argument : node.arguments)
    if (!argument.is_positional)
      return errors_.fail(node.at, "Only positional arguments allowed in type cast");
  if (node.arguments.size() != 1)
    return errors_.fail(node.at,
                        cat("Illegal arguments ", shown, ": type cast expects exactly 1 argument"));
  Datum from;
  if (const Step step = evaluator_.evaluate(node.arguments[0].value, frame, from);
      step != Step::done)
    return step;
  return cast(program_, errors_, node, program_.symbols.name(node.function.name), from, value);
}

Step Calls::call_plugin(const Call& node, Frame* frame, Datum& value) {
  const Plugin& plugin = *node.plugin;
  PluginArguments given;
  Step result = Step::done;
  for (const Argument& argument : node.arguments) {
    Datum datum;
    const Step step = evaluator_.evaluate(argument.value, frame, datum);
    if (step == Step::fail)
      return step;
    if (step == Step::wait) {
      result = step;
    } else if (argument.is_positional) {
      given.positional.push_back(datum);
    } else if (!argument.is_unpacked) {
      given.named.push_back({context_.make_text(program_.symbols.name(argument.name)).text, datum});
    } else if (datum.tag == Tag::dict) {
      given.named.insert(given.named.end(), datum.dict->entries.begin(), datum.dict->entries.end());
    } else if (datum.tag == Tag::unknown) {
      value = datum;
      return Step::done;
    } else {
      return errors_.fail_unpacking(argument);
    }
  }
  if (result != Step::done)
    return result;
  PluginCall call{context_, node, frame};
  // A check of a type is over before the calls that wait are made.
  return plugin.run_together != nullptr && !now_.is_checking && !now_.is_probing
             ? call_later(plugin, given, call, value)
             : call_alone(plugin, given, call, value);
}

Step Calls::call_alone(const Plugin& plugin, PluginArguments& given, PluginCall& call,
                       Datum& value) {
  CallFailure told;
  const int missing = now_.task->missing;
  if (run_call(plugin, given, call, told)) {
    value = call.result;
    return Step::done;
  }
  if (now_.task->missing > missing)
    return Step::wait;
  return report(call.node, std::move(told.reasons), told.importance);
}

Step Calls::report(const Call& node, std::vector<Reason> reasons, Importance importance) {
  if (errors_)
    return Step::fail;
  Reason first = std::move(reasons[0]);
  reasons.erase(reasons.begin());
  return errors_.fail(node.at, std::move(first), importance, Teller::itself, std::move(reasons));
}

Step Calls::call_later(const Plugin& plugin, PluginArguments& given, PluginCall& call,
                       Datum& value) {
  if (const auto known = failed_.find({now_.task->number, &call.node, call.frame});
      known != failed_.end()) {
    auto [reasons, importance] = std::move(known->second);
    failed_.erase(known);
    return report(call.node, std::move(reasons), importance);
  }
  CallFailure told;
  const int missing = now_.task->missing;
  switch (prepare_call(plugin, given, call, told)) {
    case Readiness::given:
      value = call.result;
      return Step::done;
    case Readiness::failed:
      return now_.task->missing > missing
                 ? Step::wait
                 : report(call.node, std::move(told.reasons), told.importance);
    case Readiness::ready:
      waiting_.push_back({&plugin, now_.task, std::move(call), false});
      schedule_.wait(*now_.task);
  }
  return Step::wait;
}

/// Keeps what has come of a call for its task. One that came too early is made again by its task.
void Calls::settle(WaitingCall& waiting) {
  Task& task = *waiting.task;
  PluginCall& call = waiting.call;
  const int missing = task.missing;
  CallFailure told;
  context_.on_behalf_of(task, [&] {
    if (finish_call(*waiting.plugin, call, waiting.has_run, told))
      schedule_.remember(task, {&call.node, call.frame}, {call.result, {}});
    else if (waiting.has_run ? task.missing == missing : !call.is_early)
      failed_[key_of(waiting)] = {std::move(told.reasons), told.importance};
  });
}

/// A failure is told by the expressions around the call, when its task comes to it again. A task
/// that waits for something else, too, may never come.
bool Calls::report_failed(const WaitingCall& waiting) {
  if (failed_.empty() || waiting.task->missing == 0)
    return false;
  const auto found = failed_.find(key_of(waiting));
  if (found == failed_.end())
    return false;
  context_.on_behalf_of(*waiting.task, [&] {
    report(waiting.call.node, std::move(found->second.first), found->second.second);
  });
  return true;
}

/// Each call holds its task until all have been made, whatever wakes it meanwhile.
bool Calls::make_waiting() {
  if (waiting_.empty())
    return false;
  std::vector<WaitingCall> calls = std::exchange(waiting_, {});
  calls[0].plugin->run_together(calls);  // there is one kind of plugins that are called together
  for (WaitingCall& one : calls) {
    settle(one);
    if (errors_) {
      errors_.tell(*one.task);
      return false;
    }
  }
  for (const WaitingCall& one : calls)
    schedule_.wake(one.task);
  for (const WaitingCall& one : calls)
    if (report_failed(one)) {
      errors_.tell(*one.task);
      return false;
    }
  return true;
}

bool run_plugin(PluginCall& from, const Plugin& plugin, PluginArguments& given, Datum& result,
                std::string& error) {
  PluginCall call{from.context, from.node, from.frame};
  CallFailure told;
  if (!run_call(plugin, given, call, told)) {
    error = std::move(told.reasons[0].message);
    from.causes.assign(std::make_move_iterator(told.reasons.begin() + 1),
                       std::make_move_iterator(told.reasons.end()));
    return false;
  }
  result = call.result;
  return true;
}

}  // namespace fettle::model
