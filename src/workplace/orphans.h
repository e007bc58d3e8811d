#pragma once
/// Orphans: things that no set wants any more, and that are in the world all the same. Their
/// records stay, so that they are listed, can be removed, and are found by a later `--prune`.
///
/// For each set, a record has a digest of what the set wants the resource to be. A zero digest
/// means that the set once wanted it and no longer does. In the record of an orphan, all digests
/// are zero.

#include "workplace/edit.h"
#include "workplace/shared.h"

namespace fettle {

struct Orphan {
  Key key;
  std::vector<Name> sets;  ///< those that wanted it
  Name origin;             ///< where it was declared
  Time finished;           ///< when it was last acted on
  bool was_found = false;  ///< it was found as wanted, so it is never removed
};

/// The set of things that were found by their marks when the store had lost its last records: they
/// are orphans until somebody wants them.
inline constexpr std::string_view set_of_lost_records = "lost records";

/// Whether no set wants it any more.
bool is_orphan(const Record& record);

/// Whether it is an image or a network, in which others stand. These go with what uses them.
bool is_surroundings(const Key& key);

/// The orphans, by key. Images and networks go with what uses them and are not listed.
std::vector<Orphan> orphans_of(const Known& known, const Kinds& kinds);

/// The things that left a set in a run.
struct Departures {
  std::vector<Key> orphaned;   ///< by key
  std::vector<Key> forgotten;  ///< things that are nothing in the world; by key
  size_t orphans = 0;          ///< all of the environment, including earlier ones
  Sharers shared;              ///< those of them that others want
};
/// After a run: things that its sets know and do not want become orphans. With `forgets_acts`,
/// things that are nothing in the world are forgotten. `known` is as the run left it.
Result<Departures> mark_orphans(const Workplace& place, Edit& edit, const Intent& intent,
                                Known known, bool forgets_acts);

/// An orphan that stays because something that stays uses it.
struct UsedOrphan {
  Key key, user;
};
struct ChosenOrphans {
  std::vector<Orphan> going;
  std::vector<UsedOrphan> used;  ///< by key
  Sharers shared;                ///< orphans that stay because others want them
};
/// The orphans that words name, `KIND/NAME` or a name. Without words: all that nothing uses and
/// nobody else wants. Errors (`Blame::user`): a word names nothing, or something that is still
/// wanted or used.
Result<ChosenOrphans> find_orphans(const Workplace& place, const Environment& environment,
                                   const std::vector<std::string>& words);

/// What became of an orphan that was to go: `failed`, `forgotten` if it had been found as wanted,
/// or `removed`. `known` is as the removal left it.
std::string_view fate_of(const Orphan& orphan, const Known& known);

/// Removes the orphans. One that had been found as wanted is only forgotten.
Result<Summary> remove_orphans(const Workplace& place, Edit& edit,
                               const std::vector<Orphan>& orphans);

}  // namespace fettle
