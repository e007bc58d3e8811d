#pragma once
/// Where a fleet stands: what users want, what is known of its things, and what can be seen of
/// them.
///
/// A keeper decides and acts in the same way wherever its fleet is; only the questions differ. A
/// store with engines is read and polled: who wrote last, which nodes answer, how pods do. A
/// cluster tells everything by itself. Neither may shine through, or every rule of a keeper would
/// have two forms. So whoever follows a fleet asks a `FleetSource`, and whoever acts on it also
/// listens to its `FleetNews`, which passes on to the cache what is new.
///
/// To add one: implement both, and let `bring_workloads` choose.

#include "controller/fleet_view.h"

namespace fettle {

class FailedActs;
class FleetCache;
class FleetNews;
class Notifier;

class FleetSource {
 public:
  virtual ~FleetSource() = default;

  virtual const Name& environment() const = 0;
  /// Reads everything, and which nodes are ready; looks at no pod.
  virtual Result<std::unique_ptr<FleetView>> learn() = 0;
  /// Finds out how the known pods are. An empty function: nobody has to be asked.
  virtual PodsQuestion question_about_pods(const FleetView& view) = 0;
  /// Whether all that happens to pods is told without being asked for (`FleetNews`).
  virtual bool tells_of_pods() const { return false; }
  /// Passes the answer to the view.
  virtual Status tell_seen(FleetView& view, PodsSeen answer) = 0;
  /// For whoever has the right to act, which is `edit`. All must outlive it.
  virtual std::unique_ptr<FleetNews> news(FleetCache& cache, Edit& edit, Notifier& notifier) = 0;
};

/// What becomes known while somebody acts on the fleet.
class FleetNews {
 public:
  enum class News {
    none,
    some,
    wishes  ///< users want something else
  };

  virtual ~FleetNews() = default;

  /// Lets the notifier be told from now on (`Notifier::Cause::store`).
  virtual void listen() = 0;
  /// Lets the cache learn everything; what comes later is news.
  virtual Status learn() = 0;
  /// Passes what is new to the cache, if it is time to ask.
  virtual Result<News> hear() = 0;
  /// When it is time to ask again at the latest.
  virtual Instant due() const = 0;
  /// Finds out which nodes answer. Returns whether one is back: it may have other images and other
  /// pods, and whatever waited for it need not wait any longer.
  virtual Result<bool> watch_nodes() = 0;
  /// Forgets what was on nodes that never come back. Only while nothing is under way there.
  virtual Status forget_lost() = 0;
  /// What has failed, each thing with a pause of its own before it is tried again. Null: all of it
  /// is tried with whatever is due next.
  virtual FailedActs* failed_acts() { return nullptr; }
  /// A run has ended: clears what is left of things that are gone.
  virtual Status clear_leftovers() = 0;
  /// While nobody acts: clears what could not be cleared then, if it is time to try again.
  virtual Status clear_leftovers_again() { return {}; }
  /// Where acts are carried out: nobody waits there for a world that is known not to answer.
  virtual Workplace place_of_acts() const = 0;
};

}  // namespace fettle
