#pragma once
/// From low data to an intent of the engine: each chunk a resource, its requisites the needs of the
/// resource, references the holes of its attributes.
///
/// Some things have no word in the core and stay in `CompiledStates`: a `prereq` is due only when its
/// target would change, `listen` is heard once, and commands run around a call.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "states/compiled_states.h"

namespace fettle::states {

struct IntentOptions {
  Name environment{};
  bool prune = false;            ///< what left the files is removed; else it stays
  const Known* known = nullptr;  ///< null: nothing is known
};

struct StatesIntent {
  std::shared_ptr<const Intent> intent;
  std::vector<Key> keys;                ///< of each chunk; an empty kind: it waits for a block
  std::vector<Error> errors;            ///< reported together
  std::map<std::string, Key> owners{};  ///< of the paths that are known (`managed_path.h`)
  std::set<Key> seconds{};  ///< they act on the path of another state, and listen for it
  /// The chunk and the reason of each error, without its place.
  std::vector<std::pair<size_t, std::string>> refused{};
};

/// The set of all that files of states want in an environment.
inline constexpr std::string_view states_set = "states";

/// The key of the look that says whether the guards of a chunk allow the act. Only for kinds of the
/// engine.
Key guard_key(const Name& environment, const Chunk& chunk);

/// The key of the act that runs `check_cmd`; as above.
Key check_key(const Name& environment, const Chunk& chunk);

/// The key of the look at the target of a `prereq`.
Key look_key(const Key& target);

StatesIntent intent_of(const CompiledStates& compiled, const IntentOptions& options);

/// The same, but a refused resource fails only its own state (`--lenient`), whose chunk then says
/// so.
StatesIntent lenient_intent_of(CompiledStates& compiled, IntentOptions options);

}  // namespace fettle::states
