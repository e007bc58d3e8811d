#pragma once
/// The states that the engine has kinds for, and what of their arguments these take. To add one: a
/// row of its module in `types.cc`; all other states are calls (`src/kinds/state.cc`).

#include <string_view>

#include "kinds/kind_of.h"
#include "states/compiled_states.h"

namespace fettle::states {

struct MappedState {
  const TypedKind& (*kind)();
  std::string_view driver;
  bool is_absent = false;     ///< it shall not be there, whichever of the state's kinds it was
  bool is_own_name = false;   ///< the engine calls it by its name alone
  bool takes_guards = false;  ///< it takes `unless` and `onlyif`
  /// The attributes of the kind, not normalised. Errors (`Blame::user`): an argument is wrong.
  Result<Value> (*attributes)(const Chunk& chunk);
  /// The outputs of its new state beside the arguments of these names.
  std::string_view results;
};

/// Null: it is a call.
const MappedState* find_mapped(const Name& state, const Name& function);

/// The kinds to which the functions of a state map, by the function that makes a thing.
std::vector<const Kind*> kinds_of(const Name& state);

}  // namespace fettle::states
