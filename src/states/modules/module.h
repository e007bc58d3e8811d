#pragma once
/// The built-in states for which the engine has no kind: functions from arguments and a context to
/// a result. They act only through the functions that they are lent.
///
/// To add one: a row and a function in the file of its module.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/time.h"
#include "states/render.h"
#include "value/value.h"

namespace fettle::states {

/// A call of an exec function.
struct ExecCall {
  std::string path;  ///< `test.ping`
  std::vector<Value> positional{};
  Value named = Value::dict({});
  bool only_known = false;     ///< arguments that the function does not take are left out
  std::string acct_profile{};  ///< the credentials that it uses; empty: the usual ones
  /// Of the state that calls it: a parameter `name` that nothing is given for gets it.
  std::string state_name{};
};

/// Functions that are lent to modules. If a module needs a missing one, it gives an error.
struct World {
  /// Reads a file of the sources, else of this machine. None: there is no such file.
  std::function<Result<std::optional<std::string>>(const std::string& path)> read{};
  std::function<Status(const std::string& path, std::string_view text)> write{};
  /// Calls a function, which answers with a dict of `result`, `ret` and `comment`. An error: it
  /// ended with an exception.
  std::function<Result<Value>(const ExecCall& call)> exec{};
  std::function<Result<HttpResponse>(HttpRequest request)> request{};
  std::function<uint64_t()> draw{};  ///< returns random bits
  /// Blocks. Error: a stop was asked for.
  std::function<Status(Duration)> pause{};
};

struct ModuleCall {
  std::string name;                   ///< the state's
  Value arguments = Value::dict({});  ///< by parameter; defaults are added by `run_module`
  bool is_test = false;               ///< nothing may be changed
  Value old_state{};                  ///< from memory; null: nothing
  Value rerun_data{};                 ///< left by its last call for this one
  Value acct = Value::dict({});       ///< the values of its profile
  Value so_far{};                     ///< of an answer that asked to be called again
  const World* world = nullptr;

  const Value& at(std::string_view parameter) const { return arguments.at(parameter); }
};

struct ModuleAnswer {
  /// result (true, false, null), comment, old_state, new_state, changes, and rerun_data and
  /// force_save if they say anything.
  Value ret;
  /// It is not done: call again after this pause, with `so_far`. `ret` is the result so far, or
  /// null.
  std::optional<Duration> again{};
  Value so_far{};
  /// States that it adds to the run: {"chunk": {state, fun, __id__, name}}, {"block": {text, pipe}}
  /// or {"sls": {sources, params, values, prefix}}; null: none.
  Value adds{};
  /// A profile for the rest of the run: {provider, name, source, values}; null: none.
  Value profile{};
  /// The state to which its memory belongs, `{id, name}`; null: itself.
  Value memory_of{};
};

/// Calls a built-in function. `changes` that it left open are those between its states. Errors
/// (`Blame::user`): arguments that make no sense; that state fails.
Result<ModuleAnswer> run_module(std::string_view state, std::string_view function,
                                const ModuleCall& call);

/// Calls a built-in exec function, which answers with a dict of `result`, `ret` and `comment`.
/// None: there is none of this path.
std::optional<Value> run_builtin_exec(std::string_view path, std::span<const Value> positional);

}  // namespace fettle::states
