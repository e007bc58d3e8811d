#pragma once
/// The parts of a pod: its template, and what it has beyond that. `pod.cc` lists the attributes.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

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
