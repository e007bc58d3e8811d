#pragma once
/// The functions for a run of states: those that ship with fettle, and users' own beside the
/// sources. Secrets are hidden in all that is reported about a call.

#include <map>
#include <mutex>
#include <set>
#include <span>

#include "base/http.h"
#include "drivers/state/driver.h"
#include "drivers/state/plugins.h"
#include "states/acct.h"
#include "states/catalogue.h"
#include "states/compile.h"
#include "states/modules/module.h"
#include "workplace/workplace.h"

namespace fettle {

struct FunctionOptions {
  std::vector<Path> folders{};  ///< folders in which plugins are looked for
  std::string run_name = "cli";
  std::string environment{};   ///< whose memory `esm.*` is about; empty: the run name
  std::string acct_profile{};  ///< the default profile; empty: the one that the credentials name
  bool wants_profile = false;  ///< `acct_profile` has to exist
  states::Credentials credentials{};
  Value options = Value::dict({});  ///< the value of `hub.OPT.idem`
  bool is_away = false;   ///< states are called on another machine; here, they are only compiled
  bool is_guest = false;  ///< the same from there: what is remembered of them is elsewhere
};

/// Answers `esm.show`, `.remove`, `.validate`, `.unlock` and `.version`, which are about what an
/// environment remembers of its states. No value: it is another function.
Result<std::optional<Value>> run_memory_exec(const Workplace& place, const Name& environment,
                                             const states::ExecCall& call);

class RunFunctions : public StateFunctions {
 public:
  RunFunctions(const Workplace& place, FunctionOptions options);

  /// Finds the plugins, and at once, or when something is missing, those of installed packages.
  /// Errors: Python is wanted and cannot be started. `problems` lists files that are no plugins.
  Status open(bool with_packages = true);
  /// Loads installed packages. False: there is nothing new. Not beside calls; `catalogue` changes.
  Result<bool> open_packages();
  /// Whether files of states call an exec function that is not there.
  bool lacks_functions_of(const states::CompiledStates& compiled) const;
  const std::vector<Error>& problems() const { return problems_; }
  /// Why modules of installed packages are not there that these errors are about.
  std::vector<Error> hidden_problems(std::span<const Error> errors) const;
  /// Error: the default profile is wanted, and no credentials have it.
  Status check_profile() const;
  /// Why the module of a path (`reconcile.mine`) is not there although it has a file. Null: it has
  /// none.
  const Error* problem_of(std::string_view module) const;
  /// All states that exist. It lives as long as this object.
  const states::Catalogue& catalogue() const { return *catalogue_; }

  Result<StateAnswer> call(const StateCall& call, std::stop_token stop) override;
  bool has(std::string_view state, std::string_view function) const override;
  Result<std::optional<Duration>> wait(const std::string& state, const Value& own, int calls,
                                       std::stop_token stop) override;
  bool has_module(std::string_view state) const override;
  bool skips_memory(std::string_view state) const override;
  bool can_look(std::string_view state) const override;
  bool can_repeat(std::string_view state) const override;
  Value computed(std::string_view state, std::string_view function) const override;
  Result<std::optional<bool>> is_pending(const std::string& state, const Value& ret,
                                         const PendingCounts& reruns,
                                         std::stop_token stop) override;
  Result<Value> exec(const std::string& path, Value arguments, std::stop_token stop) override;

  /// Calls an exec function and returns `{result, ret, comment}`. Error: there is no function of
  /// this path (with a suggestion), or it ended with an exception.
  Result<Value> exec_function(const states::ExecCall& call, std::stop_token stop = {});
  Plugins& plugins() { return plugins_; }
  /// Takes out the states that running states have added to the run.
  std::vector<states::Addition> take_additions();

 private:
  void read_modules();
  Result<Value> run_state(const Value& asked, std::stop_token stop);
  Result<Value> run_state_function(const states::ExecCall& call, std::stop_token stop);
  Result<Value> acct_of(const std::string& path, const std::string& profile) const;
  const std::string& profile_of(const std::string& profile) const;
  bool gathers(std::string_view path) const;
  Value completed(const StateCall& call) const;
  Result<StateAnswer> call_plugin(const StateCall& call, const Value& acct, std::stop_token stop);
  Result<StateAnswer> call_builtin(const StateCall& call, const Value& acct, std::stop_token stop);
  Result<Value> answer(const Value& asked);
  states::World world(const std::string& profile, std::stop_token stop);

  const Workplace& place_;
  FunctionOptions options_;
  HttpClient http_;
  Plugins plugins_;
  std::unique_ptr<states::Catalogue> own_, catalogue_;
  std::vector<Error> problems_;
  std::set<std::string, std::less<>> gathering_;  ///< modules whose code makes profiles
  std::map<std::string, std::vector<Name>, std::less<>> exec_providers_;  ///< by module
  mutable std::mutex mutex_;  ///< guards what states add
  std::vector<states::Addition> additions_;
};

}  // namespace fettle
