#pragma once
/// What the objects of a cluster say about the past of a workload. Events are gone after an hour;
/// what stands in the status of a workload and in the annotations of its pods stays.

#include "core/record.h"
#include "workloads/fleet.h"

namespace fettle {

/// Something that was reported about an object.
struct ClusterEvent {
  Name object;  ///< `CloneSet/NAMESPACE/NAME`
  Name type, reason;
  std::string text;
  Time time;  ///< of the last time
  int64_t count = 1;
};
/// By an Event object. Whoever wrote it, in whichever of the two forms.
ClusterEvent event_of_cluster(const Value& object);
/// The oldest first.
std::vector<ClusterEvent> events_in_order(const std::vector<Value>& objects);

/// What the controller of a workload has written into its status, beyond numbers: what it has not
/// seen yet, why it is held, and its conditions. `reason`: one that is told already.
std::vector<std::string> status_lines(const Value& workload, std::string_view reason);

/// The jobs that pull images ahead for a workload and are not done. `status`: as it is decided.
std::vector<std::string> pull_lines(const Value& status);

/// Which of the pods was made or updated last, and when. Empty: there is none.
std::string last_act_on(const std::vector<Value>& pods);

/// Says that a controller has yet to see the newest spec of an object. Empty: one has.
std::string unseen_text(const Value& workload);

}  // namespace fettle
