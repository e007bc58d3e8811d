#pragma once
/// Gives revisions that fettle has made to OpenKruise in its own words, so that it finds the template
/// of each workload in one of them and makes no new one.
///
/// Its webhook stands by then and its manager does not act. Revisions that OpenKruise has made stay
/// as they are. Of each other one it is asked what it would store of that template
/// (`upstream_words.h`); the workload gets these words if it has the same template, and then the
/// revision (`spare_revisions.h`).
///
/// OpenKruise tells by hashes which pods have the sidecars that a SidecarSet has now. Its webhook
/// writes that of the set, and revisions and pods have copies. None was right while nobody answered
/// for that webhook: so pods get the hash of the revision that they have.
///
/// Invariants: a revision is written after its workload, and that of a SidecarSet after its pods. So
/// whoever dies in between leaves a revision that is still fettle's, and the next run goes on there.
/// What OpenKruise cannot be asked about stays, and is said.

#include <map>
#include <string>
#include <vector>

#include "cluster/sidecars.h"
#include "verbs/cluster/exchange.h"
#include "verbs/cluster/held_lease.h"
#include "verbs/cluster/upstream_words.h"

namespace fettle {

class HandedRevisions {
 public:
  HandedRevisions(Exchange& exchange, HeldLease& lease, InstallationReport& report);

  /// All workloads of a type, in the version in which they are stored.
  Status settle(const kubernetes::ResourceType& type);
  /// Says what could not be done.
  void tell_rest();

 private:
  /// A revision of a SidecarSet that waits for its pods.
  struct OfSet {
    Value before, wanted;
    Name set;
    cluster::SidecarSetHashes hashes{};
  };

  Status settle_one(const kubernetes::ResourceType& type, const Value& object);
  /// `is_newest`: the workload may have its words.
  Status settle_revision(const kubernetes::ResourceType& type, const Value& object,
                         const Value& revision, bool is_newest);
  Status replace(const Value& before, const Value& wanted);
  /// Of pods that have a revision in `sets_`.
  Status write_hashes();
  Status write_hashes_of(const Value& pod);
  Value hashes_for(const Value& pod) const;
  Status write_workload(const kubernetes::ResourceType& type, const Value& object,
                        const Value& words, const Value& answer);
  /// Of a workload, the newest one first.
  Result<std::vector<Value>> revisions_of(const kubernetes::ResourceType& type,
                                          const Value& object);

  Exchange& exchange_;
  HeldLease& lease_;
  InstallationReport& report_;
  UpstreamWords words_;
  std::string space_;             ///< of `revisions_`
  std::vector<Value> revisions_;  ///< of all workloads of a namespace
  std::vector<OfSet> sets_;
  std::vector<std::string> left_;  ///< workloads with revisions in the words of fettle
};

}  // namespace fettle
