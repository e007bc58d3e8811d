#pragma once
/// From a version and a push to the next version. Pure; the cost is that of the push, however many
/// sets the version has.
///
/// A full push replaces everything. A partial one replaces what its sets contribute, withdraws what
/// its removed sets contributed, and may add to the rest. It is refused exactly when its sets
/// contradict the others, and when it does what only a full push may.
///
/// Nobody holds a lock while a push is prepared: it says on which version it is based, and is
/// carried over to the newest one when nobody touched since what it touches. Every check is made
/// against the newest one.

#include <span>
#include <unordered_map>

#include "versions/version.h"
#include "versions/words.h"

namespace fettle {

/// What a named set says about a shared resource of the push, and what makes it need something.
struct Share {
  Name id;
  Name set;
  std::vector<Name> needs;
};

/// A claim and the set that makes it.
struct SetClaim {
  Name set;
  Claim claim;
};

struct Push {
  bool is_partial = false;
  std::optional<uint64_t> base;    ///< what it was compiled against; none: the newest
  std::optional<uint64_t> number;  ///< of a full push: the number that it wants
  std::vector<Item> items;
  std::unordered_map<Name, Name> sets;  ///< by id of item; not there: shared
  std::vector<Name> removed;            ///< sets to delete
  std::vector<Name> emptied;            ///< sets that are there without a member
  std::vector<Unknown> unknowns;
  std::unordered_map<Name, Value> findings;  ///< by set
  Value code;                    ///< versions of what reads the resources; null: not told
  bool may_change_code = false;  ///< in a partial push
  Value detail;                  ///< kept with the version
  const CommitWords* words = &plain_words();  ///< how it is refused
};

struct Claims {
  std::vector<Share> shares;  ///< a shared item without one is the rest's
  std::vector<SetClaim> claims;
};

/// What became of the resources of a set.
struct SetChange {
  Name set;  ///< empty: shared
  std::vector<Name> added, changed, removed;
};

struct Commit {
  Delta delta;
  std::vector<SetChange> changes;  ///< sorted by set; only sets in which something changed
  size_t kept_sets = 0;            ///< named sets of the push that are as they were
};

/// Errors (`Blame::user`), none of which leaves a trace: the push is broken, breaks a rule, is
/// stale, or contradicts what other sets say.
Result<Commit> commit(const Snapshot& newest, Push push, Claims claims = {});

/// The error for resources that need each other in a circle; none when there is no circle.
std::optional<Error> find_cycle(std::span<const Item> items);

}  // namespace fettle
