#include "drivers/handler/python_handler.h"

#include <unistd.h>

#include "base/base64.h"
#include "base/text.h"
#include "base/time.h"
#include "programs/python.h"
#include "programs/python_package.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t longest_code = 256 << 20;
constexpr size_t longest_content = 64 << 20;

/// The folder of a module, from the path of one of its files.
std::string module_of(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

Status check_path(std::string_view path) {
  for (const std::string_view step : split(path, '/'))
    if (step.empty() || step == "." || step == "..")
      return world_error(cat("the code of the version has a file `", path, "`"));
  return {};
}

/// Writes what is not there of the modules of a version; returns their folders by name.
Result<Value> unpack(const Value& modules, const Path& folder) {
  std::map<std::string, Value> folders;
  for (const Entry& file : modules.entries()) {
    TRY(check_path(file.key));
    const std::string module = module_of(file.key);
    folders.emplace(module, Value((folder / "inmanta_plugins" / module).string()));
    const Path path = folder / "inmanta_plugins" / std::string(file.key.view());
    const std::string text = to_text(file.value);
    if (const Result<std::string> there = read_file(path); there && *there == text)
      continue;
    TRY(make_directories(path.parent_path()));
    TRY(write_file(path, text));
  }
  std::vector<Entry> entries;
  for (auto& [name, path] : folders)
    entries.push_back({fettle::Name(name), path});
  return Value::dict(std::move(entries));
}

/// What a handler asks meanwhile: a content that a serializer stored.
Result<Value> answer(const HandlerSite& site, const Value& asked) {
  const Value* const digest = site.code.files.value().find(asked.text_at("file"));
  if (asked.find("file") == nullptr)
    return user_error("a handler cannot ask that");
  if (digest == nullptr)
    return Value();
  return Value(base64_encode(TRY(read_blob(site.blobs, digest->text().view(), longest_content))));
}

/// The handler's reason, and the lines of its code.
Error failure(const Value& told) {
  const std::string_view trace = told.text_at("trace");
  return world_error(cat(told.text_at("why"), trace.empty() ? "" : cat("; in Python:\n", trace)));
}

/// The facts that are known after a call: those of before, and what it tells. People see what is new
/// of them.
Dict facts_after(const HandlerSite& site, const Value& told) {
  std::map<Name, Value> facts;
  if (site.act.known != nullptr) {
    const HandledOutputs before = read<HandledOutputs>(site.act.known->outputs);
    for (const Entry& fact : before.facts.entries())
      facts.emplace(fact.key, fact.value);
  }
  const int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(now_from_clock().time_since_epoch()).count();
  if (told.at("facts").is_list())
    for (const Value& fact : told.at("facts").items()) {
      const std::string value(fact.text_at("value"));
      Value& kept = facts[Name(fact.text_at("id"))];
      if (kept.is_null() || kept.text_at("value") != value)
        site.tell(cat("fact ", fact.text_at("id"), " = ", value));
      kept = Value::dict({{"value", value}, {"expires", fact.bool_at("expires")}, {"at", now}});
    }
  std::vector<Entry> entries;
  for (auto& [name, fact] : facts)
    entries.push_back({name, std::move(fact)});
  return Dict(Value::dict(std::move(entries)));
}

Outcome outcome_of(const HandlerSite& site, const Value& told) {
  const std::string_view state = told.text_at("state");
  if (state.empty())
    return Failed{world_error("its process gave no answer"), {}, {}, false};
  const Value changes = told.at("changes").is_dict() ? told.at("changes") : Value::dict({});
  const bool differs = !changes.entries().empty();
  if (state.starts_with("skipped") || state == "unavailable")
    return Skipped{std::string(told.text_at("why"))};
  if (state == "failed") {
    Failed failed{failure(told), {}, {}, site.act.looks_only, site.printed};
    if (site.act.known != nullptr && told.at("facts").is_list()) {
      HandledOutputs outputs = read<HandledOutputs>(site.act.known->outputs);
      outputs.facts = facts_after(site, told);
      failed.outputs = write(outputs);
    }
    failed.has_changed = told.bool_at("changed");
    return failed;
  }
  HandledOutputs outputs{site.code.code, true, changes, {}, {}};
  if (site.act.verb != Verb::remove)
    outputs.facts = facts_after(site, told);
  if (site.act.looks_only)
    outputs.reloads = told.bool_at("reloads");
  outputs.is_compliant = state != "non_compliant" && !(site.act.looks_only && differs);
  Done done{write(outputs)};
  done.changed =
      state != "non_compliant" && (differs || told.bool_at("changed") || told.bool_at("reloaded"));
  return done;
}

}  // namespace

Result<Program*> PythonHandlers::program(const HandlerSite& site) {
  const std::string interpreter = site.code.interpreter.get().str();
  const std::string environment = site.act.key.environment.str();
  const std::string key = cat(interpreter, "\n", site.code.code.view(), "\n", environment);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Program>& known = known_[key];
  if (known != nullptr)
    return known.get();
  if (access(interpreter.c_str(), X_OK) != 0)
    return world_error(cat("the Python with which the version was exported, `", interpreter,
                           "`, is not here: export the model again"));
  const std::string digest = site.code.code.get().str();
  const Value code =
      TRY(read_json(TRY(read_blob(site.blobs, digest, longest_code)), "the code of the version"));
  if (!code.at("modules").is_dict() || !code.at("packages").is_list())
    return world_error("the code of the version is damaged: export the model again");
  const Path folder = home_ / cat("handlers-", digest.substr(0, 32));
  const Value settings = Value::dict(
      {{"modules", TRY(unpack(code.at("modules"), folder))}, {"environment", environment}});
  PythonEnvironment python{interpreter, {}};
  for (const Value& package : code.at("packages").items())
    python.packages.emplace_back(to_text(package));
  known = std::make_unique<Program>(
      serve_models(python, TRY(unpack_python(home_)), home_, settings), ServeMode::many);
  return known.get();
}

Result<Outcome> PythonHandlers::look_after(const HandlerSite& site) {
  Program& program = *TRY(this->program(site));
  const bool is_removal = site.act.verb == Verb::remove;
  const Value request =
      Value::dict({{"fields", site.wanted.fields.value()},
                   {"dry", site.act.looks_only},
                   {"purge", is_removal},
                   {"reload", !site.act.looks_only && !is_removal && !site.act.events.empty()}});
  Result<Value> told =
      good_answer(program.call({.request = Value::dict({{"handler", request}}),
                                .time_limit = site.deadline,
                                .on_log = [&](std::string_view text) { site.tell(text); },
                                .on_ask = [&](const Value& asked) { return answer(site, asked); },
                                .may_repeat = site.act.looks_only},
                               site.stop));
  if (!told) {
    told.error().unknown_outcome = false;  // the next call looks first
    if (const std::string trace = std::exchange(told.error().excerpt, {}); !trace.empty())
      told.error().message += cat("; in Python:\n", trace);
    if (site.act.looks_only && !is_cancelled(told.error()))
      return Failed{std::move(told).error(), {}, {}, true};
    return std::move(told).error();
  }
  if (told->bool_at("left"))
    site.tell("it cannot be purged, and stays as it is");
  return outcome_of(site, *told);
}

}  // namespace fettle
