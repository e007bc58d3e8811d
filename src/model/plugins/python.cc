#include "model/plugins/python.h"

#include "base/text.h"
#include "model/program/instance.h"
#include "programs/python_package.h"

namespace fettle::model {
namespace {

Value text_of_path(const Path& path) {
  std::error_code failed;
  return std::filesystem::absolute(path, failed).lexically_normal().string();
}

}  // namespace

Python::Python(Program& program) : program_(program) {}
Python::~Python() = default;

bool Python::is_in(const Path& plugins) {
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(plugins, failed), end;
  for (; !failed && at != end; at.increment(failed))
    if (at->path().extension() == ".py" && at->is_regular_file(failed))
      return true;
  return false;
}

Status Python::start() {
  if (process_ != nullptr)
    return {};
  const Path folder = program_.folder.empty() ? Path(".") : program_.folder;
  environment_ = python_environment(folder);
  if (environment_.interpreter.empty())
    return world_error("the modules have Python, and there is no `python3` on this machine");
  Path home = program_.home.empty() ? python_cache() : program_.home;
  if (home.empty()) {
    unpacked_ = std::make_unique<TemporaryDirectory>(TRY(TemporaryDirectory::make()));
    home = unpacked_->path();
  }
  const Path package = TRY(unpack_python(home));
  std::vector<Entry> folders, roots;
  for (const auto& [name, module] : program_.modules) {
    if (is_in(module.plugins))
      folders.push_back({fettle::Name(name), text_of_path(module.plugins)});
    roots.push_back({fettle::Name(name), text_of_path(module.folder)});
  }
  if (is_in(folder / "plugins"))
    folders.push_back({"__config__", text_of_path(folder / "plugins")});
  std::vector<Value> module_path;
  for (const Path& one : program_.module_path)
    module_path.push_back(text_of_path(one));
  const Value settings = Value::dict({{"modules", Value::dict(std::move(folders))},
                                      {"roots", Value::dict(std::move(roots))},
                                      {"module_path", Value::list(std::move(module_path))},
                                      {"environment", program_.environment}});
  process_ = std::make_unique<fettle::Program>(
      serve_models(environment_, package, folder, settings), ServeMode::many);
  return {};
}

Result<Value> Python::ask(Value request, Duration time_limit, Responder on_ask, Printer on_print) {
  TRY(start());
  if (!on_print)
    on_print = [this](std::string_view line) { print(line); };
  return good_answer(process_->call({.request = std::move(request),
                                     .time_limit = time_limit,
                                     .on_log = std::move(on_print),
                                     .on_ask = std::move(on_ask)},
                                    {}));
}

const Result<Value>& Python::module(const std::string& name, Duration time_limit) {
  const auto known = modules_.find(name);
  if (known != modules_.end())
    return known->second;
  const Result<Value> answer = ask(Value::dict({{"load", Value::list({Value(name)})}}), time_limit);
  return modules_
      .emplace(name, answer ? Result<Value>(answer->at("modules").at(name)) : answer.error())
      .first->second;
}

Result<bool> Python::matches(std::string_view pattern, std::string_view text, Duration time_limit) {
  const Value told =
      TRY(ask(Value::dict({{"match", Value::list({Value(pattern), Value(text)})}}), time_limit));
  if (const Value* wrong = told.find("wrong"))
    return user_error(to_text(*wrong));
  return told.bool_at("matches");
}

std::vector<std::string> Python::finalize(Duration time_limit) {
  std::vector<std::string> wrong;
  if (process_ == nullptr)
    return wrong;
  const Result<Value> told = ask(Value::dict({{"finalize", true}}), time_limit);
  if (!told)
    wrong.push_back(cat("Finalizer failed: ", told.error().message));
  else if (told->at("wrong").is_list())
    for (const Value& one : told->at("wrong").items())
      wrong.push_back(to_text(one));
  return wrong;
}

Entity* Python::entity(std::string_view full_name) {
  if (entities_.empty())
    for (Entity& one : program_.entities)
      entities_.emplace(one.full_name, &one);
  const auto found = entities_.find(full_name);
  return found == entities_.end() ? nullptr : found->second;
}

bool Python::tell(const Instance& instance, uint32_t slot) {
  return told_.insert(uint64_t{instance.number} << 32 | slot).second;
}

size_t Python::number_of(const Datum& reference) {
  const auto [known, is_new] = numbers_.try_emplace(reference.reference, references_.size());
  if (is_new)
    references_.push_back(reference);
  return known->second;
}

const Datum* Python::reference(size_t number) const {
  return number < references_.size() ? &references_[number] : nullptr;
}

Python& python_of(Program& program) {
  if (program.python == nullptr)
    program.python = std::make_shared<Python>(program);
  return *program.python;
}

std::string with_trace(const Value& told, std::string_view key) {
  const std::string_view trace = told.text_at("trace");
  return cat(told.text_at(key), trace.empty() ? "" : "\n", trace);
}

}  // namespace fettle::model
