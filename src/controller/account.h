#pragma once
/// Lines for a command that waits for a fleet, while it waits and at the end.

#include "controller/fleet_records.h"
#include "controller/workload_progress.h"
#include "controller/workloads.h"

namespace fettle {

class Account {
 public:
  Account(const Workplace& place, const BringOptions& options) : place_(place), options_(options) {}

  /// Something has changed: pods are counted again when somebody asks.
  void expire() { is_counted_ = false; }
  void count(const FleetView& view);
  const FleetProgress& progress() const { return progress_; }
  /// Whether somebody has looked at pods since all ready ones became available. Others may wait for
  /// that, and a ready pod may have failed in the meantime.
  bool has_seen_available(Time looked) const { return looked >= progress_.all_available; }
  /// The longest pause before the next look at pods: short while a pod is awaited, else until a
  /// probe is due.
  Duration look_pause(const workloads::Fleet& fleet) const;

  void tell_waiting();
  /// Adds what a run did, and what failed of workloads that somebody asked about.
  void add(const Summary& summary, const FleetRecords& records);
  /// Takes out the account, which ends it.
  BringResult close(const FleetView& view);

  Summary& summary() { return brought_.summary; }
  const Summary& summary() const { return brought_.summary; }

 private:
  void forget_failures_of_others(const FleetRecords& records);

  const Workplace& place_;
  const BringOptions& options_;
  FleetProgress progress_;
  bool is_counted_ = false;           ///< pods were counted since the last change
  std::string told_;                  ///< the text about what we wait for that was shown last
  std::set<std::string> told_holds_;  ///< texts about pods that are held that were shown
  BringResult brought_;
};

}  // namespace fettle
