#pragma once
/// What a pod of a cluster has from SidecarSets.
///
/// The template of a pod is the one of its revision, and nothing in a PodSpec says which of its
/// containers are somebody else's, or of which revision. So the pod's attribute `sidecars` stands in
/// an annotation, written together with the containers. Anybody may write annotations: one that
/// could not be such an attribute is passed over, and the pod counts as one without sidecars.
///
/// OpenKruise's annotations are written beside it, so that its manager knows which pods have which
/// sidecars. Its hashes are made of the Go form of a SidecarSet. Its webhook writes them on the
/// SidecarSet, and they are taken from there; where it has not, a pod has none. A pod that this
/// webhook has injected has no annotation of ours: its sidecars are left as they are.

#include <map>

#include "cluster/objects.h"

namespace fettle::cluster {

/// OpenKruise's hashes of a SidecarSet as it is now.
struct SidecarSetHashes {
  Name all, without_images;
};
/// By the name of the SidecarSet; one whose hashes are not known is missing.
using HashesBySidecarSet = std::map<Name, SidecarSetHashes>;

/// A pod's attribute `sidecars`; null: there are none that we know.
Value read_sidecars(const Value& object);

/// The annotations that lead from some sidecars to others; null takes one away. `object`: the pod
/// as it is; null: it is to be made.
std::vector<Entry> sidecar_annotations(const Value& before, const Value& after, const Value& object,
                                       const HashesBySidecarSet& hashes, Time now);
/// Whether it is one of these annotations.
bool is_of_sidecars(std::string_view annotation);

/// A template with what its sidecars add to it.
Value template_with_sidecars(const Value& pod_template, const Value& sidecars);
/// A PodSpec without the containers and volumes of sidecars.
Value spec_without_sidecars(const Value& spec, const Value& sidecars);
/// A PodSpec in which each container of a sidecar has OpenKruise's variable that says so.
Value spec_with_injection_marks(const Value& spec, const Value& sidecars);

}  // namespace fettle::cluster
