#include "starlark/module_loader.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "starlark/eval/vm.h"
#include "starlark/lib/universe.h"
#include "starlark/scan.h"

namespace fettle::starlark {
namespace {

constexpr std::string_view libraries[] = {"json", "math", "time"};
constexpr size_t most_files = 10'000;

}  // namespace

ModuleLoader::ModuleLoader(Session& session, Read read, Prepare prepare)
    : session_(session), read_(std::move(read)), prepare_(std::move(prepare)) {}

std::string ModuleLoader::path_of(std::string_view from, std::string_view name) {
  const size_t slash = from.rfind('/');
  const bool is_beside = !name.starts_with('/') && slash != std::string_view::npos;
  const std::string path = is_beside ? cat(from.substr(0, slash + 1), name) : std::string(name);
  // One file is one module, whatever name is used for it.
  return std::filesystem::path(path).lexically_normal().string();
}

/// Reads the files that `text` loads, and those that they load.
void ModuleLoader::discover(const std::string& path, std::string_view text) {
  std::vector<std::pair<std::string, std::string_view>> open = {{path, text}};
  files_[path];
  while (!open.empty() && files_.size() < most_files) {
    const auto [from, source] = std::move(open.back());
    open.pop_back();
    for (const std::string& name : loads_of(source, session_.state().dialect)) {
      const std::string found = path_of(from, name);
      if (!files_.contains(found)) {
        std::optional<std::string> read = read_(found);
        if (!read)
          continue;
        std::string& kept = files_[found].text;
        kept = std::move(*read);
        open.emplace_back(found, kept);
      }
      if (files_[from].loads.insert(found).second)
        files_[found].loaded_by.push_back(from);
    }
  }
}

void ModuleLoader::prefetch(const std::string& path, std::string_view text, unsigned threads) {
  discover(path, text);
  // A single module is best run where it is loaded.
  if (files_.size() < 3 || threads < 2)
    return;
  for (auto& [name, file] : files_) {
    file.missing = file.loads.size();
    if (file.missing == 0 && name != path)
      ready_.push_back(name);
  }
  files_[path].missing = SIZE_MAX;  // runs in the session itself
  const Session::State& whole = session_.state();
  budget_ = std::make_shared<Budget>(whole.limits.memory, whole.limits.steps);
  {
    std::vector<std::jthread> pool;
    for (size_t i = 0; i < std::min<size_t>(threads, files_.size() - 1); ++i)
      pool.emplace_back([this] { run_ready(); });
  }
  // If all together need more than there is, each runs where it is loaded, so that the result does
  // not depend on who was first.
  if (budget_->is_used_up() || !whole.budget->draw(budget_->drawn()))
    ahead_.clear();
}

/// The work of each thread: runs modules as they become ready, until none can become ready any
/// more.
void ModuleLoader::run_ready() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !ready_.empty() || running_ == 0; });
    if (ready_.empty())
      return;
    const std::string path = std::move(ready_.front());
    ready_.pop_front();
    ++running_;
    ahead_[path];  // before others look it up
    lock.unlock();
    run_ahead(path);
    lock.lock();
    --running_;
    for (const std::string& waiting : files_[path].loaded_by) {
      if (--files_[waiting].missing == 0)
        ready_.push_back(waiting);
    }
    changed_.notify_all();
  }
}

void ModuleLoader::run_ahead(const std::string& path) {
  std::unique_lock lock(mutex_);
  Ahead& mine = ahead_.at(path);
  const std::string& text = files_.at(path).text;
  lock.unlock();
  const Session::State& whole = session_.state();
  Session session(whole.dialect, whole.limits);
  session.state().use(budget_);
  session.state().also_cancelled = &session_.cancelled;
  session.collect_always = session_.collect_always;
  session.now = session_.now;
  if (prepare_)
    prepare_(session);
  session.print = [&mine](Thread&, std::string_view line) { mine.printed.emplace_back(line); };
  session.load = [this](Thread& thread, std::string_view name) -> Result<ModulePtr> {
    const std::string found = path_of(thread.position().file, name);
    Ahead* other = nullptr;
    {
      const std::lock_guard guard(mutex_);
      const auto known = ahead_.find(found);
      other = known == ahead_.end() ? nullptr : &known->second;
    }
    // Whatever this module loads has run, or is no file.
    return other != nullptr ? *other->result : library(name, found);
  };
  mine.result = session.run(path, text);
  mine.before_running = session.failed_before_running();
  mine.steps = session.steps();
}

/// With the first load, the output and the cost of a module that ran ahead, and of those that it
/// loads, become visible. False: a limit is reached.
bool ModuleLoader::account(Thread& thread, const std::string& path) {
  Ahead& ahead = ahead_.at(path);
  if (ahead.told)
    return true;
  ahead.told = true;
  for (const std::string& needed : files_.at(path).loads) {
    if (ahead_.contains(needed) && !account(thread, needed))
      return false;
  }
  for (const std::string& line : ahead.printed) {
    if (session_.print)
      session_.print(thread, line);
    else
      std::fprintf(stderr, "%s\n", line.c_str());
  }
  Vm& vm = thread.state();
  return !vm.failed && vm.charge(ahead.steps);
}

Result<ModulePtr> ModuleLoader::load(Thread& thread, std::string_view name) {
  const std::string path = path_of(thread.position().file, name);
  if (const auto known = ahead_.find(path); known != ahead_.end()) {
    if (!account(thread, path))
      return thread.error(thread.state().failure.message());
    session_.state().failed_before_running = known->second.before_running;
    return *known->second.result;
  }
  return cache_.get(path, [&]() -> Result<ModulePtr> {
    const std::optional<std::string> text = read_(path);
    return text ? session_.run(thread, path, *text) : library(name, path);
  });
}

/// `json.star` and the like are the libraries of the same name.
Result<ModulePtr> ModuleLoader::library(std::string_view name, const std::string& path) const {
  for (const std::string_view known : libraries) {
    if (name != cat(known, ".star"))
      continue;
    Session plain(Dialect::of(Profile::go));
    plain.predeclare(cat("the_", known), universal(plain.state().dialect, known));
    return plain.run(std::string(name), cat(known, " = the_", known, "\n"));
  }
  return user_error(cat("open ", path, ": no such file or directory"));
}

}  // namespace fettle::starlark
