#pragma once
/// How many acts are in flight at once, and which one is next when a slot is free.
///
/// Everything that can be done at once should be, except for the cost: an engine that gets requests
/// for a hundred containers at once is slower than one that gets four at a time, and somebody
/// else's service may allow only two calls. So there is an overall budget (`parallelism`), and a
/// pool with a depth gives some resources a stricter one.
///
/// A queue for each pool and a thread for each slot would be the obvious way, and is wrong twice. A
/// pending act holds no slot: it waits for the world, not for us, and a hundred starting pods must
/// not keep the next one from being created. And the queues depend on each other: a free slot goes
/// to the first act *in the order of the run*, whatever its pool. Otherwise a deep pool would
/// starve acts that are described before it.
///
/// Some acts take no slot at all. An *instant* act never blocks and touches nothing (a value that
/// is computed from others), so it goes before all others. It still takes memory while it is under
/// way, and there may be a million of them. They go in batches: when one is full, nothing more is
/// decided until it has been started.
///
/// A place in the order of the graph asks for a slot. This class knows neither the meaning of a
/// place nor that of an act.
///
/// Invariants:
/// * No pool has more acts in flight than it is deep. All together have no more than `parallelism`,
///   not counting instant ones. Acts that another wish took over count as they are.
/// * Each held slot is released once.
/// * A *stray* is an act in flight whose result is no longer wanted. It cannot be called off, and
///   holds its slot until it ends.

#include <map>
#include <optional>
#include <set>

#include "core/resource.h"

namespace fettle {

class Slots {
 public:
  Slots() = default;
  /// `depths`: those of the named pools. Any other pool is as deep as `parallelism`.
  Slots(std::map<Name, int> depths, int parallelism)
      : depths_(std::move(depths)), parallelism_(parallelism) {}

  /// `wanted` names the pool; null: the resource is no longer wanted.
  void queue(const Resource* wanted, uint32_t place) { pool_of(wanted).queue.insert(place); }
  void unqueue(const Resource* wanted, uint32_t place) { pool_of(wanted).queue.erase(place); }
  /// Takes the next place that fits out of its queue. None: nothing fits. It has no slot yet.
  std::optional<uint32_t> next();

  void hold(const Resource* wanted);
  void release(const Resource* wanted);
  void add_strays(int count) { acting_ += count; }
  void end_stray() { --acting_; }

  int acting() const { return acting_; }  ///< acts in flight, including strays
  bool is_batch_full() const { return instant_.queue.size() >= most_instant; }

 private:
  struct Pool {
    int depth = 1;
    int in_use = 0;
    std::set<uint32_t> queue;  ///< places that wait for a slot
  };
  static constexpr int most_instant = 256;  ///< in one batch

  Pool& pool_of(const Resource* wanted);
  Pool* first_that_fits();

  std::map<Name, int> depths_;
  int parallelism_ = 1;
  std::map<Name, Pool> pools_;
  Pool instant_{most_instant, 0, {}};
  int acting_ = 0;
};

}  // namespace fettle
