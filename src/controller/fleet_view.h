#pragma once
/// A fleet as it is stored, known and seen: what decisions and answers about workloads begin with.

#include "controller/node_specs.h"
#include "workloads/fleet.h"
#include "workplace/workplace.h"

namespace fettle {

struct FleetView {
  explicit FleetView(const Name& environment) : fleet(environment) {}
  workloads::Fleet fleet;
  std::set<Name> owners;  ///< of all objects, and all that are known to want something
  Known known;
  Seen seen;                           ///< the pods
  std::map<Name, std::string> silent;  ///< engines that do not answer, and why
};

/// Nodes, objects and what is known of them, and which of their images are there. Looks at no pod.
Result<std::unique_ptr<FleetView>> learn_fleet(const Workplace& place, const Name& environment);
/// Looks at the pods that are known.
Status look_at_pods(const Workplace& place, FleetView& view);

/// The same in three steps, of which the second may happen on another thread, while other things
/// go on.
struct PodsSeen {
  Known asked;  ///< pods as they were recorded when the question was put
  Seen seen;
  std::map<Name, std::string> silent;  ///< engines that do not answer, and why
};
using PodsQuestion = std::function<Result<PodsSeen>(const std::stop_token& stop)>;
PodsQuestion question_about_pods(const Workplace& place, const FleetView& view);
/// Tells the fleet. What is recorded otherwise by now is another pod than the one that was seen.
Status tell_seen(const Workplace& place, FleetView& view, PodsSeen answer);
/// Both.
Result<std::unique_ptr<FleetView>> look_at_fleet(const Workplace& place, const Name& environment);

/// Tells the fleet what a record says. A pod that was removed by hand, as from a node that is
/// drained, does not come back: its owner makes another one.
void tell_record(workloads::Fleet& fleet, const Key& key, const RecordPointer& record);

/// Nodes as a fleet sees them. Without any this machine's engine is the only one; its name is
/// empty. One that is lost is not among them.
Result<std::vector<workloads::Node>> nodes_of_fleet(const Workplace& place);
/// Tells the fleet of nodes as they stand in the store, which no engine need be asked for: those
/// that are new, gone, lost, cordoned, drained or have other labels. A new one does not answer
/// before it has been asked.
void tell_nodes(workloads::Fleet& fleet, const std::vector<NodeSpec>& nodes);
/// Which of the fleet's nodes answer; the second step may happen on another thread.
using NodesQuestion = std::function<Result<std::map<Name, bool>>(const std::stop_token& stop)>;
NodesQuestion question_about_nodes(const Workplace& place, const workloads::Fleet& fleet);
/// The workplace with engines that are known not to answer as such, so that nobody waits for them.
Workplace without_away(const Workplace& place, const workloads::Fleet& fleet);
/// Tells how large nodes are of which nobody knows yet, as far as a workload asks for room.
Status look_at_room(const Workplace& place, workloads::Fleet& fleet);
/// All images that a PodSpec names.
std::set<Name> images_in(const Value& spec);
/// Tells which of the images that the workloads name are on the nodes.
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
