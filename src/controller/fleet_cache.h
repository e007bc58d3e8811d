#pragma once
/// What is stored, known and seen of a fleet, in memory.
///
/// To read a fleet anew for each decision costs as much as the fleet; to keep it without care is to
/// decide on what is no more. So there is one copy, and everything that changes it goes through
/// here: what users stored (`read_objects`), records as they are written (`put`), what engines told
/// of pods (`see`). A record that is another one takes with it what was seen of it: nobody decides
/// on the state of a pod that was acted on since.

#include "controller/fleet_records.h"
#include "controller/fleet_view.h"
#include "controller/fleet_wishes.h"

namespace fettle {

class FleetCache {
 public:
  FleetCache(const Workplace& place, const Name& environment)
      : place_(place), environment_(environment) {}

  /// Reads everything anew, and asks nodes whether they answer; looks at no pod. An error leaves it
  /// as it was. Only after it has succeeded once may the rest be called.
  Status learn();
  /// Objects of the newest version: who is new, another one or gone.
  Status read_objects();
  /// A record as it is by now; none: it is gone. Whether it was another one.
  bool put(const Key& key, const RecordPointer& record);
  /// What engines told of pods.
  Status see(PodsSeen answer);
  /// Asks them, and waits.
  Status look_at_pods();

  workloads::Fleet& fleet() { return all_->view->fleet; }
  const FleetView& view() const { return *all_->view; }
  FleetWishes& wishes() { return all_->wishes; }
  const FleetWishes& wishes() const { return all_->wishes; }
  const FleetRecords& records() const { return all_->records; }
  /// Pods that are not as they were left: a container is gone, or does not answer any more.
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
  const Name environment_;
  std::unique_ptr<All> all_;
  std::set<Key> drifted_;
};

}  // namespace fettle
