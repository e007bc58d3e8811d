#pragma once
/// The functions that a run of states has: those that ship, and those of users beside the sources.
/// What is said of a call is hidden where it is secret.

#include <mutex>

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
  std::vector<Path> folders{};  ///< where plugins are looked for
  std::string run_name = "cli";
  std::string environment{};   ///< whose memory `esm.*` is about; empty: the run name
  std::string acct_profile{};  ///< the default one; empty: as the credentials say
  bool wants_profile = false;  ///< `acct_profile` has to exist
  states::Credentials credentials{};
  Value options = Value::dict({});  ///< `hub.OPT.idem`
};

/// `esm.show`, `.remove`, `.validate`, `.unlock`, `.version`: what an environment remembers of its
/// states. Nothing: it is another function.
Result<std::optional<Value>> run_memory_exec(const Workplace& place, const Name& environment,
                                             const states::ExecCall& call);

class RunFunctions : public StateFunctions {
 public:
  RunFunctions(const Workplace& place, FunctionOptions options);

  /// Finds the plugins. Errors: Python is wanted and cannot be started. `problems` tells which
  /// files are none.
  Status open();
  const std::vector<Error>& problems() const { return problems_; }
  /// Error: the default profile is wanted, and no credentials have it.
  Status check_profile() const;
  /// Why the module of a path (`reconcile.mine`) is not there, though it has a file; null: it has
  /// none.
  const Error* problem_of(std::string_view module) const;
  /// All states that there are; lives as long as this.
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

  /// An exec function: `{result, ret, comment}`. Error: there is none of this path, with a
  /// suggestion, or it failed with an exception.
  Result<Value> exec_function(const states::ExecCall& call, std::stop_token stop = {});
  Plugins& plugins() { return plugins_; }
  /// What states that ran want to add to the run, taken.
  std::vector<states::Addition> take_additions();

 private:
  Result<Value> run_state(const Value& asked);
  Result<Value> run_state_function(const states::ExecCall& call);
  Result<Value> acct_of(const std::string& state, const std::string& profile) const;
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
  mutable std::mutex mutex_;  ///< of what states add
  std::vector<states::Addition> additions_;
};

}  // namespace fettle
