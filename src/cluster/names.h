#pragma once
/// The driver of what stands in a cluster, and annotations of objects there. Those that begin with
/// `apps.kruise.io` are OpenKruise's.

#include "value/name.h"

namespace fettle::cluster {

inline const Name driver_name = "kubernetes";

/// The namespace of OpenKruise's manager. Revisions of what belongs to no namespace stand there.
inline const Name manager_space = "kruise-system";

/// On a ControllerRevision: the SidecarSet that has it.
inline const Name sidecar_set_label = "kruise.io/sidecarset-name";

/// OpenKruise's, on an ImagePullJob. Its manager takes it off when the copies of Secrets are gone.
inline const Name protection = "apps.kruise.io/deletion-protection";

namespace annotation {

/// On a pod: how far its update in place has come (`update_state.h`).
inline const Name update_state = "apps.kruise.io/inplace-update-state";
/// The same of a pod that drains. OpenKruise writes it, and it is only read here.
inline const Name update_grace = "apps.kruise.io/inplace-update-grace";
/// On a pod: {"uid", "at"}, by which its maker knows it. The server's UID and time are not known
/// when it is decided to make a pod, so they cannot be what was wanted.
inline const Name made = "fettle/made";
/// On a ControllerRevision: the members of its record that the object has no field for.
inline const Name revision = "fettle/revision";
/// On a ControllerRevision: OpenKruise's hash of the claim templates.
inline const Name claims_hash = "kruise.io/cloneset-volumeclaimtemplate-hash";

/// On a PersistentVolumeClaim: the attributes of its record.
inline const Name claim = "fettle/claim";

/// On an ImagePullJob: the attributes of its record.
inline const Name job = "fettle/job";

/// On a pod: its attribute `sidecars`.
inline const Name sidecars = "fettle/sidecars";
/// On a pod: the SidecarSets that have put something into it, with commas between them.
inline const Name sidecar_list = "kruise.io/sidecarset-injected-list";
/// On a SidecarSet: OpenKruise's hash of its containers. On a pod: {SidecarSet: {"hash", ...}}.
inline const Name sidecar_hash = "kruise.io/sidecarset-hash";
inline const Name sidecar_hash_without_image = "kruise.io/sidecarset-hash-without-image";
/// On a pod: {SidecarSet: how far its update in place has come}.
inline const Name sidecar_state = "kruise.io/sidecarset-inplace-update-state";

}  // namespace annotation
}  // namespace fettle::cluster
