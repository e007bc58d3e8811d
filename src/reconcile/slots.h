#pragma once
/// How many acts are in flight at once, and which one is next when a slot is free.
///
/// Everything that can be done at once should be, but for what it costs: an engine that is asked
/// for a hundred containers together is slower than one that is asked for four at a time, and a
/// service of somebody else allows two calls and no more. So there is a budget over all
/// (`parallelism`), and whoever wants a stricter one for some resources names a pool and its depth.
///
/// A queue for each pool and a thread for each slot would be the obvious way, and is wrong twice.
/// What is pending holds no slot: it waits for the world, not for us, and a hundred pods that are
/// starting must not keep the next one from being made. And the queues are not independent: a slot
/// that is free goes to whoever stands first *in the order of the run*, whatever its pool, or a
/// deep pool would starve what is described before it.
///
/// Some acts take no slot at all. What is *instant* blocks nowhere and touches nothing (a value that
/// is computed from others), so it goes before all of them. It still takes memory while it is under
/// way, and there may be a million of them. They go in batches: when one is full, nothing more is
/// decided until it has been started.
///
/// A slot is asked for by a place in the order of the graph. What a place stands for is not known
/// here, nor what an act is.
///
/// Invariants:
/// * In no pool are more acts in flight than it is deep, and in all together, without what is
///   instant, no more than `parallelism`. Acts that another wish took over count as they are.
/// * Whoever holds a slot releases it once.
/// * A *stray* is an act in flight that nobody wants to hear of any more. It cannot be called off,
///   and what it takes of the budget it takes until it ends.

#include <map>
#include <optional>
#include <set>

#include "core/resource.h"

namespace fettle {

class Slots {
 public:
  Slots() = default;
  /// `depths`: of the named pools; what is in any other is as deep as `parallelism`.
  Slots(std::map<Name, int> depths, int parallelism)
      : depths_(std::move(depths)), parallelism_(parallelism) {}

  /// `wanted` says which pool; none: what is no longer wanted.
  void queue(const Resource* wanted, uint32_t place) { pool_of(wanted).queue.insert(place); }
  void unqueue(const Resource* wanted, uint32_t place) { pool_of(wanted).queue.erase(place); }
  /// Takes the next one that fits out of its queue; none: there is none. It has no slot yet.
  std::optional<uint32_t> next();

  void hold(const Resource* wanted);
  void release(const Resource* wanted);
  void add_strays(int count) { acting_ += count; }
  void end_stray() { --acting_; }

  int acting() const { return acting_; }  ///< acts in flight, strays among them
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
