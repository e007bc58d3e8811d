#pragma once
/// A fleet as it is stored, known and seen. Decisions and answers about workloads begin with it.

#include "controller/node_specs.h"
#include "workloads/fleet.h"
#include "workplace/workplace.h"

namespace fettle {

struct FleetView {
  explicit FleetView(const Name& environment) : fleet(environment) {}
  workloads::Fleet fleet;
  std::set<Name> owners;  ///< of all objects, and of all records
  Known known;
  Seen seen;                           ///< the pods
  std::map<Name, std::string> silent;  ///< engines that do not answer, and why
};

/// Reads the nodes, the objects, the records, and which of the images are on the nodes. Looks at no
/// pod.
Result<std::unique_ptr<FleetView>> learn_fleet(const Workplace& place, const Name& environment);
/// Looks at the pods that are known.
Status look_at_pods(const Workplace& place, FleetView& view);

/// The same in three steps. The second one may run on another thread while other things go on.
struct PodsSeen {
  Known asked;  ///< pods as they were recorded when the question was put
  Seen seen;
  std::map<Name, std::string> silent;  ///< engines that do not answer, and why
};
using PodsQuestion = std::function<Result<PodsSeen>(const std::stop_token& stop)>;
PodsQuestion question_about_pods(const Workplace& place, const FleetView& view);
/// Passes the answer to the fleet. If a record has changed since, its pod is not the one that was
/// seen.
Status tell_seen(const Workplace& place, FleetView& view, PodsSeen answer);
/// Does both.
Result<std::unique_ptr<FleetView>> look_at_fleet(const Workplace& place, const Name& environment);

/// Passes a record to the fleet. A pod that was removed by hand, for instance from a drained node,
/// does not come back: its owner makes another one.
void tell_record(workloads::Fleet& fleet, const Key& key, const RecordPointer& record);

/// The nodes as a fleet sees them. If there are none, the only one is this machine's engine, with
/// an empty name. A lost node is not among them.
Result<std::vector<workloads::Node>> nodes_of_fleet(const Workplace& place);
/// Passes the nodes in the store to the fleet: which are new, gone, lost, cordoned, drained, or
/// have other labels. No engine is asked for that. A new node counts as not answering until it has
/// been asked.
void tell_nodes(workloads::Fleet& fleet, const std::vector<NodeSpec>& nodes);
/// Which of the fleet's nodes answer. The second step may run on another thread.
using NodesQuestion = std::function<Result<std::map<Name, bool>>(const std::stop_token& stop)>;
NodesQuestion question_about_nodes(const Workplace& place, const workloads::Fleet& fleet);
/// The workplace in which engines that are known not to answer count as such, so that nobody waits
/// for them.
Workplace without_away(const Workplace& place, const workloads::Fleet& fleet);
/// Finds out how large nodes are if that is not known yet and a workload asks for room.
Status look_at_room(const Workplace& place, workloads::Fleet& fleet);
/// All images that a PodSpec names.
std::set<Name> images_in(const Value& spec);
/// Finds out which of the images that the workloads name are on the nodes.
Status look_at_images(const Workplace& place, workloads::Fleet& fleet);

/// An image on a node.
struct NodeImageView {
  std::string node, reference, id;
  int64_t bytes = 0;
};
/// All images of all nodes that answer, by node and reference.
Result<std::vector<NodeImageView>> images_on_nodes(const Workplace& place,
                                                   const workloads::Fleet& fleet);

}  // namespace fettle
