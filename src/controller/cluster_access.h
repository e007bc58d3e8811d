#pragma once
/// A cluster as those who keep a fleet in it see it.

#include "cluster/owners.h"
#include "cluster/secret_copies.h"
#include "kubernetes/object_cache.h"

namespace fettle {

/// All of it outlives who has it.
struct ClusterAccess {
  kubernetes::Client& client;
  kubernetes::ObjectCache& objects;
  cluster::Owners& owners;  ///< filled by the source of the fleet, read by the driver
  /// Of `mutatingadmissionpolicies`. Empty: they are not served, or not to be used.
  std::string policy_version{};
  /// Written by the driver. Null: no Secrets are copied.
  cluster::SecretCopies* copies = nullptr;
};

}  // namespace fettle
