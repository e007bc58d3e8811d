#pragma once
/// Containers that share one address on one node, in the shape of a Kubernetes Pod. An act ends
/// when the containers run: readiness is observed, not awaited. Its address, node and volumes
/// survive changes in place (`pod_change.h`).

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
  Dict labels, annotations;  ///< those that its template does not have
  List finalizers;
  Dict images, conditions, claims;
  Hole<Name> claims_hash;
  Dict configs;
  List sidecars;
  Hole<Name> hostname, subdomain, owner;
  Hole<bool> resize, keep_environment;
  Dict state;  ///< its owner's memory; drivers do not look at it
  static const Members& members();
};

/// The `state` of a pod: its owner's memory.
struct PodMemory {
  int64_t made = 0;        ///< when, in nanoseconds since 1970
  bool is_marked = false;  ///< users have changed its labels or annotations
  Value update;            ///< the update under way (`PodUpdate`); null: none is
  static const Members& members();
};

struct PodUpdate {
  bool is_in_grace = false;  ///< its users are being told, and nothing is stopped yet
  static const Members& members();
};

struct PodOutputs {
  Name uid, ip;
  Value started, image_error;
  Dict gates, containers, restarts;
  static const Members& members();
};

/// A Pod's status. Times are like `2026-11-22T13:40:53Z`. A wanted container that does not exist
/// has no row.
struct PodSeen {
  Name phase, reason, message, ip, host_ip, started;
  List conditions =
      Value();  ///< of {"type", "status", "lastTransitionTime"}, with "Ready" among them
  List containers = Value();  ///< of `ContainerStatus`; null: unknown
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
const Value& pod_template_of(const Attributes& attributes);

PodMemory memory_of_pod(const Attributes& attributes);
/// Whether an update of it is under way and in its grace period.
bool is_in_grace(const Attributes& attributes);

/// The name in a pod's key: `NODE|NAMESPACE/NAME`. Claims use the same form. A pod that comes back
/// on another node is another resource, so that the driver of the old node removes it.
Name node_name_of(std::string_view node, std::string_view space, std::string_view name);

/// The name of a key of something on a node: `NODE|REST`.
struct OnNode {
  bool is_on_node = false;  ///< false: it has no node, and `rest` is all of it
  std::string_view node;
  std::string_view rest;
};
OnNode on_node(std::string_view key_name);
/// `REST on NODE`, or `REST` without a node.
std::string shown_on_node(std::string_view key_name);

/// The parts of the name in a pod's key; missing parts are empty.
struct NodeAddress {
  std::string_view node;
  std::string_view space;
  std::string_view name;
};
NodeAddress node_address(std::string_view key_name);

/// The PodSpec that is to run: that of the template, with the containers, volumes and Secrets for
/// pulls of its sidecars before or behind its own, the images that the pod has beyond the template,
/// and `nodeName`.
Value pod_spec(const Attributes& attributes);

/// Labels and annotations that the pod has: those of the template, its sidecars' and its own; a
/// null among its own takes one away.
Value pod_labels(const Attributes& attributes);
Value pod_annotations(const Attributes& attributes);

/// The image that a container is to run, empty when there is no such container.
std::string_view pod_image(const Attributes& attributes, std::string_view container);

/// Names of its containers in the order in which somebody means them: those that run, then the
/// sidecars among its init containers, then those that end.
std::vector<std::string> container_names(const Attributes& attributes);

/// Whether an act that leads from one pod's attributes to the other's may make it ready or not
/// ready, so that what was seen before says nothing any more: it stops a container, or opens or
/// closes a readiness gate. Labels and annotations that no environment takes change nothing.
bool may_change_readiness(const Attributes& then, const Attributes& now);

/// OpenKruise's launch priorities, by container of a template: containers with higher ones start,
/// and are ready, before the others. Empty: there are none.
std::map<Name, int64_t> launch_priorities(const Value& pod_template);

}  // namespace fettle
