#pragma once
/// The right to act on a cluster, which a lease gives. It writes no record, since the objects of a
/// cluster are all that is known of it, and remembers what no object says for as long as a run goes
/// on: which things somebody acts on, whose last act failed, and when that is tried again.

#include <set>
#include <unordered_map>

#include "controller/failed_acts.h"
#include "store/edit.h"

namespace fettle {

/// Used by one thread.
class ClusterEdit : public Edit {
 public:
  explicit ClusterEdit(Name environment) : environment_(std::move(environment)) {}

  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return 1; }
  Status write(std::span<const Change> changes) override;
  Status put_environment(const Environment&) override { return {}; }
  Status put_note(std::string_view, const Value&) override { return {}; }
  Status begin_removal() override { return nothing_to_remove(); }
  Status remove_environment() override { return nothing_to_remove(); }

  /// Everything is read anew: nothing is under way.
  void begin_anew();
  /// A run has ended, so nobody acts any more, also where the end of an act is unknown.
  void end_run();
  /// While somebody acts on a thing, its object says less than its record.
  bool is_under_way(const Key& key) const { return under_way_.contains(key); }
  /// The record of the last act on a thing, if that failed; null: it did not.
  RecordPointer failure(const Key& key) const;
  FailedActs& failed_acts() { return failed_acts_; }
  /// A thing is gone, or nobody's any more: how the last act on it has ended is of no interest.
  void forget(const Key& key);
  /// Takes out the things on which acts have ended since the last call.
  std::set<Key> take_ended() { return std::exchange(ended_, {}); }

  /// Revisions and jobs of rollouts that nobody wants any more. Nothing acts on what is only
  /// remembered, so their objects are left.
  const std::set<Key>& forgotten() const { return forgotten_; }
  void note_removal(const Key& key);
  /// A server has refused to remove one. It is asked again later.
  void note_refusal(const Key& key, Instant now) { refusals_[key].begin(now); }
  bool may_remove(const Key& key, Instant now) const;
  /// When the first refused one may be tried again. None: none was refused.
  std::optional<Instant> removal_due() const;

 private:
  /// How an act has ended, as events say. A record does not tell one that was left for later from
  /// one that failed, nor one of which nobody knows how it ended from one that goes on.
  enum class End { none, skipped, failed };
  void note(const Key& key, const RecordPointer& record, End end);
  static Status nothing_to_remove() {
    return Error(Blame::bug, "the environment of a cluster is not removed");
  }

  const Name environment_;
  std::set<Key> under_way_, ended_, forgotten_;
  std::unordered_map<Key, RecordPointer, KeyHash> failures_;
  std::map<Key, Backoff> refusals_;  ///< of some of the forgotten ones
  FailedActs failed_acts_;
};

}  // namespace fettle
