#include "documents/states.h"

#include "base/text.h"

namespace fettle {
namespace {

/// Exec functions that need no plugin.
struct BuiltinExec {
  std::string_view path, text;
  std::string_view parameters = "";  ///< with blanks between
};

constexpr BuiltinExec builtin_execs[] = {
    {"esm.remove", "Forgets a state, by its tag.", "tag"},
    {"esm.show", "The memory of the environment: states by tag."},
    {"esm.unlock", "Nothing to do: a run that has ended holds no locks."},
    {"esm.validate", "How many states are remembered."},
    {"esm.version", "The version of the memory."},
    {"state.run", "Calls a state function outside of any run.", "path"},
    {"test.afail", "Fails."},
    {"test.aping", "Answers true."},
    {"test.echo", "Answers its argument.", "value"},
    {"test.fail", "Fails."},
    {"test.ping", "Answers true."}};

Value value_of_exec(std::string_view path, std::string_view text, Value parameters) {
  return Value::dict(
      {{"ref", cat("exec.", path)}, {"doc", text}, {"parameters", std::move(parameters)}});
}

/// The parameters of a plugin in the form of those of states: without the context.
Value parameters_of_exec(const Value& described) {
  std::vector<Value> parameters;
  if (described.is_list())
    for (const Value& parameter : described.items()) {
      const std::string_view name = parameter.text_at("name");
      if (name == "ctx" || name == "hub")
        continue;
      const Value* const otherwise = parameter.find("default");
      std::vector<Entry> entries{{"name", name}, {"required", otherwise == nullptr}};
      if (otherwise != nullptr)
        entries.push_back({"default", *otherwise});
      parameters.push_back(Value::dict(std::move(entries)));
    }
  return Value::list(std::move(parameters));
}

}  // namespace

Value value_of(const StateResult& result) {
  std::vector<Entry> entries(result.entry.entries().begin(), result.entry.entries().end());
  entries.push_back({"re_runs_count", result.re_runs});
  entries.push_back({"require_re_run", result.is_pending});
  if (result.is_unmet)
    entries.push_back({"unmet", true});
  return Value::dict(std::move(entries));
}

Value document_of(const StatesReport& report) {
  std::vector<Entry> entries;
  for (const StateResult& result : report.results)
    entries.push_back({result.tag, value_of(result)});
  return Value::dict(std::move(entries));
}

Value document_of(const std::vector<const StateResult*>& results) {
  std::vector<Entry> entries;
  for (const StateResult* const result : results)
    entries.push_back({result->tag, value_of(*result)});
  return Value::dict(std::move(entries));
}

Value last_line_of(const StatesReport& report) {
  return Value::dict(
      {{"re_runs_count", report.re_runs}, {"require_re_run", report.requires_re_run}});
}

Value host_line(const std::string& host, const std::string& environment) {
  return Value::dict({{"host", host}, {"environment", environment}});
}

Value memory_document(size_t remembered, std::optional<size_t> changed) {
  std::vector<Entry> entries{{"remembered", remembered}};
  if (changed)
    entries.push_back({"changed", *changed});
  return Value::dict(std::move(entries));
}

Value exec_document(const std::string& path, const Value& answer) {
  const Value& comment = answer.at("comment");
  return Value::dict({{"result", answer.at("result")},
                      {"ret", answer.at("ret")},
                      {"comment", comment.is_null()   ? Value::list({})
                                  : comment.is_list() ? comment
                                                      : Value::list({comment})},
                      {"ref", cat("exec.", path)}});
}

Value value_of(const states::Module& module, const states::Function& function) {
  std::vector<Value> parameters{Value::dict({{"name", "name"}, {"required", true}})};
  for (const states::Parameter& parameter : function.parameters) {
    std::vector<Entry> entries{{"name", parameter.name},
                               {"required", !parameter.otherwise.has_value()}};
    if (parameter.otherwise)
      entries.push_back({"default", *parameter.otherwise});
    if (!parameter.text.empty())
      entries.push_back({"doc", parameter.text});
    parameters.push_back(Value::dict(std::move(entries)));
  }
  return Value::dict({{"ref", cat("states.", module.ref, ".", function.name)},
                      {"doc", function.text},
                      {"parameters", Value::list(std::move(parameters))},
                      {"test", function.test_mode}});
}

std::map<std::string, Value> exec_functions(RunFunctions& functions) {
  std::map<std::string, Value> found;
  for (const BuiltinExec& one : builtin_execs) {
    std::vector<Value> parameters;
    for (const std::string_view name : split(one.parameters, ' '))
      if (!name.empty())
        parameters.push_back(Value::dict({{"name", name}, {"required", true}}));
    found.emplace(one.path, value_of_exec(one.path, one.text, Value::list(std::move(parameters))));
  }
  for (const Value& module : functions.plugins().modules()) {
    const std::string_view path = module.text_at("path");
    const Value& described = module.at("functions");
    if (!path.starts_with("exec.") || !described.is_list())
      continue;
    for (const Value& function : described.items()) {
      const std::string name = cat(path.substr(5), ".", function.text_at("name"));
      found.emplace(name, value_of_exec(name, function.text_at("text"),
                                        parameters_of_exec(function.at("parameters"))));
    }
  }
  return found;
}

}  // namespace fettle
