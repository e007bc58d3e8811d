#pragma once
/// The lines for a command that waits for a fleet: while it waits, and at the end.

#include "controller/fleet_records.h"
#include "controller/workload_progress.h"
#include "controller/workloads.h"

namespace fettle {

class Account {
 public:
  Account(const Workplace& place, const BringOptions& options) : place_(place), options_(options) {}

  /// Something is another one: pods are counted again when it is asked for.
  void expire() { is_counted_ = false; }
  void count(const FleetView& view);
  const FleetProgress& progress() const { return progress_; }
  /// Whether pods were looked at since all that are ready are available: others may wait for that,
  /// and what was ready may have failed in the meantime.
  bool has_seen_available(Time looked) const { return looked >= progress_.all_available; }
  /// The longest pause before the next look at pods: short while one is awaited, else until a probe
  /// is due.
  Duration look_pause(const workloads::Fleet& fleet) const;

  void tell_waiting();
  /// Of a run: what it did, and what failed of workloads that were asked about.
  void add(const Summary& summary, const FleetRecords& records);
  /// Takes the account; it is over.
  Brought close(const FleetView& view);

  Summary& summary() { return brought_.summary; }
  const Summary& summary() const { return brought_.summary; }

 private:
  void forget_failures_of_others(const FleetRecords& records);

  const Workplace& place_;
  const BringOptions& options_;
  FleetProgress progress_;
  bool is_counted_ = false;           ///< pods, since the last change
  std::string told_;                  ///< what people who look on are told that we wait for
  std::set<std::string> told_holds_;  ///< what they were told of pods that are held
  Brought brought_;
};

}  // namespace fettle
