#pragma once
/// The moments and hints that wake a run with nothing to do.
///
/// A run never sleeps. It is told that time has passed, and says with each answer when it wants to
/// be woken next. A thread or a callback for each wait would be the obvious way; then the order in
/// which two of them fire is a matter of luck, and no seed replays a run. Here all moments of a run
/// are in one order, each with its node, and the earliest of all is the one answer to "when?".
///
/// There are three kinds of moments. A *call* is due: an act that has not settled goes back into
/// the queue for a slot. A *limit* has been reached: a call under way takes too long and is told to
/// stop; nothing has ended yet. The *deadline* of the run: it waits for nothing any more.
///
/// Waiting for a moment is a poor way to learn that something has happened. A driver that knows
/// sooner hints at a key. Hints may be late, duplicated or missing: a hint only leads to an earlier
/// call, so a run without hints comes to the same end. Only the act knows whose hints concern it
/// (it waits for a pod, it watches the pod's node), so it names what it *watches* after each call,
/// and does so until the next one names other things: a hint that comes during a call counts, too.
///
/// Invariants:
/// * The earlier of two moments is taken first; of two equal ones, that of the smaller node.
/// * A moment that is taken or cancelled is gone: it is acted on once.
/// * Nothing is taken before its time, and `next` is never later than anything that waits.

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/key.h"
#include "plan/graph.h"

namespace fettle {

/// Moments, each with its node.
class Agenda {
 public:
  void set(Instant moment, NodeId id) { moments_.emplace(moment, id); }
  /// Returns whether it was set.
  bool cancel(Instant moment, NodeId id) { return moments_.erase({moment, id}) != 0; }
  /// Takes out the first one that has come. None: none has.
  std::optional<NodeId> take(Instant now);
  /// All of them, the next one first.
  const std::set<std::pair<Instant, NodeId>>& moments() const { return moments_; }

 private:
  std::set<std::pair<Instant, NodeId>> moments_;
};

struct Timers {
  std::optional<Instant> deadline{};  ///< of the run
  Agenda calls{};                     ///< of acts that have not settled
  Agenda limits{};                    ///< of calls under way

  /// The first moment at which there is something to do. None: never.
  std::optional<Instant> next() const;
};

/// Knows which nodes are called at once on a hint about a key.
class Watchers {
 public:
  /// A node watches other keys than before.
  void turn(NodeId id, const std::vector<Key>& from, const std::vector<Key>& to);
  std::set<NodeId> of(const Key& key) const;
  /// Returns whether a driver's hints are useful for the first time.
  bool is_first_of(const Name& driver) { return drivers_.insert(driver).second; }
  void clear() { nodes_.clear(); }

 private:
  std::unordered_map<Key, std::set<NodeId>, KeyHash> nodes_;
  std::set<Name> drivers_;
};

}  // namespace fettle
