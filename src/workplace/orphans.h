#pragma once
/// Orphans: what the set that made it no longer wants, and what is in the world all the same. Its
/// record stays, so that it is listed, can be removed, and is found by a later `--prune`.
///
/// A record says of each set as what it wants the resource; a zero digest says that the set did and
/// no longer does. An orphan is a record of which every set says so.

#include "workplace/edit.h"
#include "workplace/shared.h"

namespace fettle {

struct Orphan {
  Key key;
  std::vector<Name> sets;  ///< that wanted it
  Name origin;             ///< where it was declared
  Time finished;           ///< when it was last acted on
  bool was_found = false;  ///< it was as wanted when it was found, so it is never removed
};

/// Whether no set wants it any more.
bool is_orphan(const Record& record);

/// Images and networks: what others stand in. They go with what uses them.
bool is_surroundings(const Key& key);

/// By key. Surroundings, images and networks, go with what uses them and are not listed.
std::vector<Orphan> orphans_of(const Known& known, const Kinds& kinds);

/// What left a set in a run.
struct Left {
  std::vector<Key> orphaned;   ///< by key
  std::vector<Key> forgotten;  ///< what is nothing in the world; by key
  size_t orphans = 0;          ///< of the environment, those of before included
  Shared shared;               ///< those of them that others want
};
/// After a run: what the sets of its intent know and do not want becomes an orphan. With
/// `forgets_acts`, what is nothing in the world is known no more. `known` is as the run left it.
Result<Left> mark_orphans(const Workplace& place, Edit& edit, const Intent& intent, Known known,
                          bool forgets_acts);

/// An orphan that stays, since something that stays uses it.
struct UsedOrphan {
  Key key, user;
};
struct ChosenOrphans {
  std::vector<Orphan> going;
  std::vector<UsedOrphan> used;  ///< by key
  Shared shared;                 ///< they stay, since others want them
};
/// The orphans that words name, `KIND/NAME` or a name; without words all that nothing uses and
/// nobody else wants. Errors (`Blame::user`): one names nothing, or what is still wanted or used.
Result<ChosenOrphans> find_orphans(const Workplace& place, const Environment& environment,
                                   const std::vector<std::string>& words);

/// What became of one that was to go: `failed`, `forgotten` when it was found as it was wanted, or
/// `removed`. `known` is as the removal left it.
std::string_view fate_of(const Orphan& orphan, const Known& known);

/// Takes them away; what was found as it was wanted is only forgotten.
Result<Summary> remove_orphans(const Workplace& place, Edit& edit,
                               const std::vector<Orphan>& orphans);

}  // namespace fettle
