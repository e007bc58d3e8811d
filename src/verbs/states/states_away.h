#pragma once
/// States that are called on another machine than the one where they are compiled and remembered:
/// what that one has to be told, and what calls them there.

#include "verbs/states/states.h"
#include "workplace/machines.h"

namespace fettle {

/// How the states of a run are called: a value, with the credentials.
Value settings_of_states(const FunctionOptions& functions, const StateOptions& options);

/// Takes away where modules of users are looked for. Error (`Blame::user`): there are some, which are
/// not on that machine.
Status leave_modules_here(FunctionOptions& functions);

/// On the other machine, for one run.
class StatesAway {
 public:
  explicit StatesAway(const Workplace& place) : place_(place) {}

  /// Error (`Blame::world`): the settings are none.
  Status begin(const Value& settings);
  /// Null: they have not begun.
  Driver* driver() { return driver_.get(); }
  /// What `Machine::ask_states` asks. From any thread, one after another.
  Result<Value> answer(const Value& asked, std::stop_token stop);
  /// States that running ones have added to the run: {by, what}.
  std::vector<Value> take_additions();

 private:
  const Workplace& place_;
  std::unique_ptr<RunFunctions> functions_;
  std::unique_ptr<StateDriver> driver_;
  std::mutex asking_;
};

/// Functions of modules that are called outside of a run: on the machine of an environment, if it has
/// another one than this. What is about the memory of states is answered where that is kept.
class FunctionCalls {
 public:
  /// Errors (`Blame::user`): nobody has said on which machine, or modules of users are not there.
  static Result<std::unique_ptr<FunctionCalls>> make(const Workplace& place,
                                                     const Name& environment,
                                                     FunctionOptions options);
  /// As `RunFunctions::exec_function`, and as `describe_states`.
  Result<Value> exec(const states::ExecCall& call);
  Result<Description> describe(const std::string& pattern, bool is_hard);

 private:
  FunctionCalls(const Workplace& place, Machine* machine, FunctionOptions options)
      : place_(place), machine_(machine), functions_(place_, std::move(options)) {}

  const Workplace& place_;
  Machine* machine_;  ///< null: this one
  RunFunctions functions_;
};

}  // namespace fettle
