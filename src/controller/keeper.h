#pragma once
/// Carries out workloads and keeps them as wanted, with the right to act on their fleet.
///
/// The obvious loop reads everything, decides, acts, and begins again: at ten thousand pods it
/// would do nothing but read, and whatever users say while it acts would wait until it is done. So
/// a cache holds what is known, an owner is asked again only when something concerns it, and a run
/// that is under way takes in new wishes. One turn:
///
///   ask      owners whom something concerns what they want (`FleetWishes`)
///   carry    out what has not come about of those who want something else, or whose last wish did
///            not end well; all of it when it begins and when a node is back
///   count    what pods have come to, and tell those who wait
///   rest     until a notifier is told or something is due
///   catch up with news of the source (`FleetNews`), nodes and pods
///
/// Invariants: nothing is decided on a look from before the last act on the thing; what users say
/// about nodes counts before anybody is told so; an error of the world does not end a controller.

#include "controller/account.h"
#include "controller/backoff.h"
#include "controller/notifier.h"
#include "controller/pod_looks.h"
#include "controller/told_edit.h"

namespace fettle {

class Wakeful;

class Keeper {
 public:
  /// `edit`: the right to act.
  Keeper(const Workplace& place, FleetSource& source, Edit& edit, const BringOptions& options);
  Result<BringResult> bring();

 private:
  /// Owners whose wishes have to be carried out, or are being carried out.
  struct Backlog {
    std::set<Name> owners;
    bool is_all = true;  ///< whatever the records say
    Known of_run;        ///< what became due during a run; null: it is gone
    Backoff backoff;
  };
  /// Whether a run only waits, for instance for an init container.
  struct Motion {
    Instant moved;          ///< when something under way was last written about
    std::set<Key> awaited;  ///< acts to be called again, about which nothing was written since
  };

  Result<bool> take_turn();
  bool rest(Duration limit);
  bool is_over() const;
  Duration pause() const;
  Instant next_look() const;

  Status learn();
  Result<bool> catch_up();
  Status hear_news();
  Status watch_nodes();
  Result<bool> look();
  void learn_record(const Key& key, const RecordPointer& record);

  Status carry();
  std::set<Key> take_retries();
  Result<std::shared_ptr<const Intent>> wanted_by_now(const Run& run, Wakeful& executor);
  Known news_for(const Run& run, Known due, const std::set<Key>& retries) const;
  bool is_stuck(const Run& run);

  const Workplace& place_;
  const BringOptions& options_;
  const bool counts_;  ///< what pods have come to; else nobody waits for that, and nobody looks:
                       ///< in a cluster each change of a pod would cost as much as all of them
  ToldEdit edit_;
  Account account_;
  FleetCache cache_;
  Notifier notifier_;
  PodLooks pods_;
  const std::unique_ptr<FleetNews> news_;
  Backlog outstanding_;
  Motion motion_;
  bool is_due_ = true;  ///< at least once, since things may not be as they were left
  Instant acted_;       ///< when the last run ended
  Instant changed_;
  std::string complaint_;  ///< the last one that was shown
};

}  // namespace fettle
