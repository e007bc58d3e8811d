#pragma once
/// All users' code that a run of states finds:
///
///   Plugins plugins({.folders = {"."}, .home = home}, http);
///   TRY(plugins.open(stop));
///   … plugins.modules() …  plugins.call({.path = "states.cloud.vm.present", …}, stop)
///
/// In each folder, `states/cloud/vm.star`, `states/cloud/vm.py` and the program
/// `states/cloud/vm.plugin` are the module `states.cloud.vm`; the same goes for `exec` and
/// `reconcile`, and for `tool`, which only Python has. The first folder that has a module counts.
/// Only programs and Python need a child process.

#include <map>

#include "base/file.h"
#include "drivers/state/plugin.h"

namespace fettle {

struct PluginOptions {
  std::vector<Path> folders{};        ///< those beside the sources, then `--plugin-dir`
  Path home{};                        ///< where the Python package is unpacked
  Value functions = Value::dict({});  ///< the host's own: `exec.test.ping`, and whether Python has
                                      ///< to await it
  Value options = Value::dict({});    ///< `hub.OPT.idem`
  std::string python = "python3";
  bool looks_for_packages = false;  ///< packages with plugins that Python has may be wanted
  /// Gets what code prints and logs, line by line, from any thread, unless the call has an `on_log`
  /// of its own; may be empty.
  std::function<void(std::string_view text)> on_log{};
};

class Plugins {
 public:
  Plugins(PluginOptions options, HttpClient& http);
  ~Plugins();

  /// Finds and loads everything. Errors: Python is wanted and cannot be started. A fault of one
  /// file is a problem, and that file is left out.
  Status open(std::stop_token stop);
  /// Loads installed packages: they take long to load, and most runs want nothing of them. Python
  /// loads them by itself if a plugin wants something of theirs. False: there are none, or they
  /// have been loaded. Not beside calls.
  Result<bool> open_packages(std::stop_token stop);

  const std::vector<Value>& modules() const { return modules_; }
  const std::vector<Error>& problems() const { return problems_; }
  /// Files of installed packages that cannot be loaded: they matter to who wants them.
  const std::vector<Error>& hidden_problems() const { return hidden_problems_; }
  /// Whether there is a function of this path.
  bool has(std::string_view path) const;
  /// The parts between `before` and `after` in the paths of functions, without dots, sorted.
  std::vector<std::string> names(std::string_view before, std::string_view after) const;

  /// Calls a function. If it asks for another one, a user's function answers if there is one, else
  /// `on_ask` of the call. The code gets the secrets of the call. Where they come back, they are
  /// marked, and comments, logs and errors are passed on without them.
  Result<PluginAnswer> call(const PluginCall& call, std::stop_token stop);

 private:
  struct Found;
  Status add(std::unique_ptr<PluginHost> host, std::stop_token stop);
  Status start_python(std::stop_token stop);
  void take(PluginHost* host, PluginModules found);
  Value functions_for_python() const;
  /// Whether the host has a module of this path; one of an installed package does not replace it.
  bool is_own(std::string_view module) const;
  /// Whose function it is; null: there is none.
  PluginHost* host_of(std::string_view path) const;
  Result<Value> answer(const Value& asked, const PluginCall& call, const std::stop_token& stop);

  PluginOptions options_;
  HttpClient& http_;
  std::vector<std::unique_ptr<PluginHost>> hosts_;
  PluginHost* python_ = nullptr;  ///< one of them
  std::vector<std::string> folders_;
  bool has_packages_ = false;  ///< they are loaded
  std::vector<Value> modules_;
  std::vector<Error> problems_, hidden_problems_;
  std::map<std::string, std::string, std::less<>> files_;  ///< of modules, by path
  std::map<std::string, PluginHost*, std::less<>> functions_;
  std::map<std::string, PluginHost*, std::less<>> dynamic_;  ///< whose are all functions below
};

}  // namespace fettle
