#pragma once
/// The driver of what stands in a cluster, and annotations of objects there. Those that begin with
/// `apps.kruise.io` are OpenKruise's.

#include "value/name.h"

namespace fettle::cluster {

inline const Name driver_name = "kubernetes";

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

}  // namespace annotation
}  // namespace fettle::cluster
