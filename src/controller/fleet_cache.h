#pragma once
/// What is stored, known and seen of a fleet, in memory.
///
/// To read a fleet again for each decision costs as much as the fleet has. To keep it without care
/// is to decide on what is no longer true. So there is one copy, and everything that changes it
/// goes through here: what users stored (`take_objects`), records as they are written (`put`), what
/// engines reported about pods (`see`). When a record changes, the cache drops what was seen of its
/// pod: nobody decides on the state of a pod that was acted on since.

#include "controller/fleet_records.h"
#include "controller/fleet_source.h"
#include "controller/fleet_wishes.h"

namespace fettle {

class FleetCache {
 public:
  FleetCache(const Workplace& place, FleetSource& source) : place_(place), source_(source) {}

  /// Reads everything, and asks nodes whether they answer; looks at no pod. An error leaves the
  /// cache as it was. The other functions may only be called after this has succeeded once.
  Status learn();
  /// Takes all objects that there are, and finds which are new, changed or gone.
  void take_objects(std::vector<workloads::Object> objects);
  /// Notes the present record of a key; null: it is gone. Returns whether it has changed.
  bool put(const Key& key, const RecordPointer& record);
  /// The same for a thing that is told of. Those who have it and did not are asked again: it may
  /// have been heard of late, and be wanted no more.
  void meet(const Key& key, const RecordPointer& record);
  /// Lets those who want a thing be asked again: others have changed it.
  void renew(const Record& record);
  /// A thing is not there any more. If it was as wanted, others have removed it, and it is due again.
  void lose(const Key& key);
  /// Takes in what engines reported about pods.
  Status see(PodsSeen answer);
  /// Takes in what was seen of one pod, as its present record says it is. Returns whether its owner
  /// is to be asked again.
  bool see(const Key& key, Observation observation);
  /// Asks how pods are, and waits.
  Status look_at_pods();

  workloads::Fleet& fleet() { return all_->view->fleet; }
  const FleetView& view() const { return *all_->view; }
  FleetWishes& wishes() { return all_->wishes; }
  const FleetWishes& wishes() const { return all_->wishes; }
  const FleetRecords& records() const { return all_->records; }
  /// Pods that are not as they were left: a container is gone, or no longer answers.
  const std::set<Key>& drifted() const { return drifted_; }
  std::set<Name> owners_of_drifted() const;

 private:
  struct All {
    explicit All(std::unique_ptr<FleetView> learned)
        : view(std::move(learned)), records(view->known), wishes(view->fleet) {}
    std::unique_ptr<FleetView> view;
    FleetRecords records;
    FleetWishes wishes;
  };
  void find_drift();

  const Workplace& place_;
  FleetSource& source_;
  std::unique_ptr<All> all_;
  std::set<Key> drifted_;
};

}  // namespace fettle
