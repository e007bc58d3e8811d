#pragma once
/// States that are called on another machine than the one where they are compiled and remembered:
/// what that one has to be told, and what calls them there.

#include "verbs/states/state_functions.h"

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
  /// States that running ones have added to the run: {by, what}.
  std::vector<Value> take_additions();

 private:
  const Workplace& place_;
  std::unique_ptr<RunFunctions> functions_;
  std::unique_ptr<StateDriver> driver_;
};

}  // namespace fettle
