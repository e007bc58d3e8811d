#pragma once
/// A SidecarSet as a MutatingAdmissionPolicy: the server itself puts the sidecars into pods that
/// others make, and nobody has to answer for each of them.
///
/// A policy is made of expressions, which know the pod and nothing else. So all that a set brings
/// stands in them as literals, and only what a pod lends (volumes, devices, variables) is computed.
///
/// * It is one mutation, so that a pod has all of a set or nothing. If it cannot be evaluated, the
///   pod is made without.
/// * A server applies the policies of several sets in any order. Each adds to what is there, and
///   what is the pod's own is what has no `IS_INJECTED`.
/// * The annotation `fettle/sidecars` (`sidecars.h`) is written as JSON by expressions, too.
/// * A pod is left alone that our controller has made, that has the set already, or that has a
///   container of the same name.

#include "base/result.h"
#include "cluster/objects.h"
#include "workloads/rollout.h"

namespace fettle::cluster {

struct AdmissionPolicy {
  Value policy, binding;  ///< objects without a version
};

/// The name of the policy of a set, and of its binding.
Name policy_name(const Name& set);
/// The set whose policy has this name. Empty: it is none of ours.
Name set_of_policy(std::string_view policy);

/// For a set that is stored in the cluster. `revision`: what pods of others get. Errors
/// (`Blame::user`): what a policy cannot do, or it would be too long for a server.
Result<AdmissionPolicy> admission_policy(const workloads::Object& set,
                                         const workloads::Revision& revision);

/// Whether an object with such a name is one that we have made for a set with this UID.
bool is_policy_of(const Value& object, const Name& set_uid);

}  // namespace fettle::cluster
