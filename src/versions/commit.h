#pragma once
/// Makes the next version from a version and a push. Pure: `newest` is only read, and the answer is
/// a delta that somebody else stores.
///
/// A model of thousands of hosts need not be compiled as a whole. Somebody who changes one set of
/// resources compiles and pushes that set alone (a partial push). All sets together must still say
/// what one compile of everything could have said. The obvious ways fail:
///
/// * The last push wins. Then two sets may describe a shared resource differently, need each other
///   in a circle, or give a relation more members than it may have.
/// * Everything is compiled together before each push. That is what a partial push avoids.
/// * The environment is locked while a push is prepared. A compile may take minutes, and everybody
///   else would wait for it.
///
/// So a set contributes more than its resources: its say about resources that no set owns, and
/// *claims*, which are all that one compile would hold against another set (`version.h`). A version
/// has an index of who holds which id and which claim. A push is checked against the index, key by
/// key. It is refused exactly when its sets contradict those that stay, or when it does what only a
/// full push may. Nobody holds a lock: a push says on which version it is based, and is carried
/// over to the newest one when nobody has touched since what it touches. Every check is made
/// against the newest one.
///
/// For example, the sets `web` and `db` of version 7 share a host. Two people compile against
/// version 7. One pushes `web`, which makes version 8. The other pushes `db`: nobody has touched
/// `db` since 7, and both say the same about the host, so this makes version 9. If `db` gave the
/// host another address, the push would be refused.
///
/// A full push replaces everything. A partial one replaces what its sets contributed, withdraws
/// what its removed sets contributed, and may add to the rest, which is what no named set
/// contributes. `Committer::run` has the steps in their order.
///
/// Invariants:
/// * A refused push leaves no trace.
/// * The delta holds a piece only if its digest is another one. So equal contents touch nothing and
///   are never stale.
/// * A partial push takes no resource and no claim out of the rest. Needs of the rest go with their
///   targets.
/// * A resource has one owner. Only a push that has both sets moves it from one to the other.
/// * The needs of a version have no circle.
/// * The cost of a partial push is that of the push, however many sets the version has.

#include <span>
#include <unordered_map>

#include "versions/version.h"
#include "versions/words.h"

namespace fettle {

/// What a named set says about a shared resource of the push, and why it needs something.
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

/// The changes to the resources of a set.
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
