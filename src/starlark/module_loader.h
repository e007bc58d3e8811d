#pragma once
/// Modules of files that `load` names: each is run once, those that do not need each other at the
/// same time.
///
/// What a file loads stands in its text, so the graph is known before anything runs. Modules whose
/// own loads are done run on threads, each in a session of its own; they share the limits of the
/// whole. Nothing of that can be seen: output of a module is kept until a program comes to its
/// first `load`, and then its steps count as that program's. A failure is kept likewise. Modules
/// that load each other in a cycle are left to the program, which reports them.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "starlark/heap/heap.h"
#include "starlark/starlark.h"

namespace fettle::starlark {

class ModuleLoader {
 public:
  /// The text of a file by its path. None: there is no such file.
  using Read = std::function<std::optional<std::string>(const std::string& path)>;
  /// Sets up a session for a module: predeclared names, the clock.
  using Prepare = std::function<void(Session&)>;

  ModuleLoader(Session& session, Read read, Prepare prepare = {});

  /// Runs the modules that `text` of the file at `path` loads, on up to `threads` threads.
  void prefetch(const std::string& path, std::string_view text, unsigned threads);
  /// For `Session::load`. Paths are relative to the file that loads.
  Result<ModulePtr> load(Thread& thread, std::string_view name);

 private:
  /// A file, as far as it is known.
  struct File {
    std::string text;
    std::set<std::string> loads;
    std::vector<std::string> loaded_by;
    size_t missing = 0;  ///< loads that are not done yet
  };
  /// A module that ran ahead.
  struct Ahead {
    std::optional<Result<ModulePtr>> result;
    std::vector<std::string> printed;
    uint64_t steps = 0;
    bool before_running = false;  ///< it failed so
    bool told = false;
  };

  void discover(const std::string& path, std::string_view text);
  void run_ready();
  void run_ahead(const std::string& path);
  bool account(Thread& thread, const std::string& path);
  Result<ModulePtr> library(std::string_view name, const std::string& path) const;
  static std::string path_of(std::string_view from, std::string_view name);

  Session& session_;
  Read read_;
  Prepare prepare_;
  ModuleCache cache_;
  std::shared_ptr<Budget> budget_;  ///< of all that run ahead
  std::map<std::string, File> files_;
  std::map<std::string, Ahead> ahead_;
  // Guards what the threads share while they run.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> ready_;
  size_t running_ = 0;
};

}  // namespace fettle::starlark
