#pragma once
/// Users' code for states: modules of states, exec functions, plugins of the loop. It is written in
/// Starlark (`starlark_modules.cc`), in Python, or as a program that speaks JSON lines
/// (`program_modules.cc`). `docs/state-modules.md` is the contract, `plugins.h` finds them all.
///
/// A function is known by its path: `states.cloud.vm.present`, `exec.cloud.vm.get`,
/// `reconcile.basic.loop`, `reconcile.pending.default.is_pending`, `reconcile.wait.static.get`.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "value/value.h"

namespace fettle {

struct PluginCall {
  std::string path;
  std::vector<Value> positional{};
  Value arguments = Value::dict({});  ///< by name
  /// `ctx`: test, old_state, rerun_data, acct, tag, run_name. For functions that take it.
  /// `acct_profile` names the credentials for code that makes something of them; a parameter `name`
  /// that nothing is given for gets `state_name`.
  Value context = Value::dict({});
  Value run{};              ///< for a reconciler: `name`, `running`: results by tag
  bool only_known = false;  ///< arguments that the function does not take are left out
  Duration time_limit{0};   ///< 0: none
  std::function<void(std::string_view text)> on_log{};
  /// What the code asks of its host:
  ///   {"call": PATH, "positional", "arguments", "context"}   a function that the host has
  ///   {"apply": {"name", "tags"}}   run states again, all without tags: {"ran": tags, "running"}
  ///   {"sleep": SECONDS}            of a reconciler
  ///   {"profiles": PROVIDERS}       the credentials of these and of their plugins: {PROVIDER:
  ///                                 {NAME: {…}}}
  std::function<Result<Value>(const Value& asked)> on_ask{};
};

struct PluginAnswer {
  enum class Verdict : uint8_t {
    answered,
    not_ready,  ///< what it waits for is not there yet
    throttled,  ///< somebody asked for patience
    skipped,    ///< it asked to be left for another run
  };
  Verdict verdict = Verdict::answered;
  Value result{};     ///< the function's answer
  std::string why{};  ///< for the other verdicts
  Value watch{};      ///< paths and numbers of processes: when one changes, it is called at once
  Value running{};    ///< of a reconciler: the results as it merged them; null: it did not
  Value secrets{};    ///< texts that it has found out and nobody may see; null: none
};

/// The modules, each as a dict that a catalogue reads (`states/described.h`): `path`, `file`,
/// `text`, `functions` ({name, text, parameters, computed, async}), `wait`, `implied`,
/// `skips_memory`, `can_look`, `can_repeat`, `gathers` (its code makes something of credentials),
/// `dynamic` (whatever is below this path may be called), `packaged` (of an installed package). A parameter is {name, kind, default,
/// aliases}; without a default it is required.
struct PluginModules {
  std::vector<Value> modules;
  std::vector<Error> problems;  ///< files that are no modules, and why
  std::vector<Error> hidden{};  ///< the same of installed packages, which nobody asked for
};

class PluginHost {
 public:
  virtual ~PluginHost() = default;
  virtual Result<PluginModules> describe(std::stop_token stop) = 0;
  /// Loads installed packages, and tells what they add.
  virtual Result<PluginModules> describe_packages(std::stop_token) { return PluginModules{}; }
  /// Calls a function, from any thread. Errors: the function failed, crashed or took too long; the
  /// excerpt is its trace.
  virtual Result<PluginAnswer> call(const PluginCall& call, std::stop_token stop) = 0;
};

/// A file of Starlark that is a module: its path, and where it is.
struct PluginFile {
  std::string path;  ///< `states.cloud.vm`
  std::string file;
};

class HttpClient;
std::unique_ptr<PluginHost> make_starlark_host(std::vector<PluginFile> files, HttpClient& http);

/// Programs, each of which serves the modules that it describes.
std::unique_ptr<PluginHost> make_program_host(PluginFile file);

struct PythonOptions {
  std::string interpreter = "python3";
  std::string package;                ///< the folder with `fettle_plugins`
  std::vector<std::string> folders;   ///< with `states`, `exec`, `tool`, `reconcile` in them
  Value functions = Value::dict({});  ///< what may be asked: by path, whether it is awaited
  Value options = Value::dict({});    ///< `hub.OPT.idem`
  bool has_packages = false;          ///< it may load installed packages, once they are wanted
  /// Gets what is written outside of calls, line by line, from any thread; may be empty.
  std::function<void(std::string_view text)> on_log{};
};
/// One child process of Python for all of it.
std::unique_ptr<PluginHost> make_python_host(const PythonOptions& options);

}  // namespace fettle
