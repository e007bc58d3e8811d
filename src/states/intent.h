#pragma once
/// From low data to an intent of the engine: each chunk a resource, its requisites the needs of the
/// resource, references the holes of its attributes.
///
/// What the core has no word for stays in `Compiled`: that a `prereq` is due only when what it
/// looks at would change, that `listen` is heard once, what is to be done around a call.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "states/compiled.h"

namespace fettle::states {

struct IntentOptions {
  Name environment{};
  bool prune = false;            ///< what left the files is removed, else it stays
  const Known* known = nullptr;  ///< null: nothing is
};

struct StatesIntent {
  std::shared_ptr<const Intent> intent;
  std::vector<Key> keys;                ///< of each chunk; an empty kind: it waits for a block
  std::vector<Error> errors;            ///< told together
  std::map<std::string, Key> owners{};  ///< of the paths that are known (`managed_path.h`)
  std::set<Key> seconds{};              ///< act on the path of another: they listen for it
  /// The chunk and the reason of each of them, without its place.
  std::vector<std::pair<size_t, std::string>> refused{};
};

/// The set of everything that files of states want in an environment.
inline constexpr std::string_view states_set = "states";

/// Of the look that tells whether the guards of a chunk let it be done; only for what the engine
/// has a kind for.
Key guard_key(const Name& environment, const Chunk& chunk);

/// Of what runs `check_cmd`; as above.
Key check_key(const Name& environment, const Chunk& chunk);

/// Of the look at something that a `prereq` comes before.
Key look_key(const Key& target);

StatesIntent intent_of(const Compiled& compiled, const IntentOptions& options);

/// The same, but what is refused fails only its own state (`--lenient`), which its chunk then says.
StatesIntent lenient_intent_of(Compiled& compiled, IntentOptions options);

}  // namespace fettle::states
