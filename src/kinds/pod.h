#pragma once
/// Containers that share one address on one node, in the shape that Kubernetes gives a Pod. An act
/// ends when the containers run: whether they are ready is seen, not awaited. Its address, node and
/// volumes survive what changes in place (`pod_change.h`).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "kinds/members.h"

namespace fettle {

/// Members from `uid` on are left out when they are empty or false.
struct Pod {
  Hole<Name> name, space = "default", node, revision;
  Dict pod_template;  ///< one `Value` that all pods of a revision share
  Hole<Name> uid;
  Dict labels, annotations;  ///< what it has beyond its template
  List finalizers;
  Dict images, conditions, claims;
  Hole<Name> claims_hash;
  Dict configs;
  List sidecars;
  Hole<Name> hostname, subdomain, owner;
  Hole<bool> resize, keep_environment;
  Dict state;  ///< what its owner remembers; drivers do not look at it
  static const Members& members();
};

/// What `state` of a pod is: what its owner remembers.
struct PodMemory {
  int64_t made = 0;        ///< when, in nanoseconds since 1970
  bool is_marked = false;  ///< users have changed labels or annotations of it
  Value update;            ///< of an update that is under way (`PodUpdate`); null: none is
  static const Members& members();
};

struct PodUpdate {
  bool is_in_grace = false;  ///< it is told to those who use the pod, and nothing is stopped yet
  static const Members& members();
};

struct PodOutputs {
  Name uid, ip;
  Value started, image_error;
  Dict gates, containers, restarts;
  static const Members& members();
};

/// A Pod's status. Times as `2026-11-22T13:40:53Z`. A container that has been wanted and is not
/// there has no row.
struct PodSeen {
  Name phase, reason, message, ip, host_ip, started;
  List conditions =
      Value();  ///< of {"type", "status", "lastTransitionTime"}, with "Ready" among them
  List containers = Value();  ///< of `ContainerStatus`; null: nobody can tell
  List init_containers;
  bool is_cut_off = false;
  static const Members& members();
};

struct ContainerStatus {
  Name name;
  Dict state;
  bool is_alive = true;
  static const Members& members();
};

/// `{"metadata", "spec"}` of a pod, without its sidecars; it stands in the attributes.
const Value& pod_template_of(const Value& attributes);

PodMemory memory_of_pod(const Attributes& attributes);
/// Whether an update of it is under way, and in its grace.
bool is_in_grace(const Attributes& attributes);

/// The name in a pod's key: `NODE|NAMESPACE/NAME`. Claims have the same. A pod that comes back on
/// another node is another resource, so that the driver of the node that it left removes it.
Name node_name_of(std::string_view node, std::string_view space, std::string_view name);

/// The name of a key of something on a node: `NODE|REST`.
struct OnNode {
  bool is_on_node = false;  ///< false: it has no node, and `rest` is all of it
  std::string_view node;
  std::string_view rest;
};
OnNode on_node(std::string_view key_name);
/// `REST on NODE`, and without a node `REST`.
std::string shown_on_node(std::string_view key_name);

/// The parts of the name in a pod's key; those that are missing are empty.
struct NodeAddress {
  std::string_view node;
  std::string_view space;
  std::string_view name;
};
NodeAddress node_address(std::string_view key_name);

/// The PodSpec that is to run: that of the template, with the containers and volumes of its
/// sidecars before or behind its own, the images that the pod has beyond the template, and
/// `nodeName`.
Value pod_spec(const Value& attributes);

/// Labels and annotations that the pod has: those of the template, its sidecars' and its own; a
/// null among its own takes one away.
Value pod_labels(const Value& attributes);
Value pod_annotations(const Value& attributes);

/// The image that a container is to run, empty when there is no such container.
std::string_view pod_image(const Value& attributes, std::string_view container);

/// Names of its containers in the order in which somebody means them: those that run, then the
/// sidecars among its init containers, then those that end.
std::vector<std::string> container_names(const Value& attributes);

/// Whether an act that leads from one pod's attributes to the other's may make it ready or not
/// ready, so that what was seen before says nothing any more: it stops a container, or opens or
/// closes a readiness gate. Labels and annotations that no environment takes change nothing.
bool may_change_readiness(const Value& before, const Value& after);

/// The launch priorities of OpenKruise, by container of a template: those with higher ones start,
/// and are ready, before the others. Empty: there are none.
std::map<Name, int64_t> launch_priorities(const Value& pod_template);

}  // namespace fettle
