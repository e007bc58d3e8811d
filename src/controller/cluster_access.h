#pragma once
/// A cluster as those who keep a fleet in it see it.

#include <algorithm>

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

/// How many acts keep a client's budget of requests busy, beside orders to nodes. An act has one
/// write on its way, which takes a quarter of a second on a server that is busy.
inline int acts_at_once_for(const kubernetes::ClientSettings& settings) {
  constexpr double fewest = 16, most = 64;
  const double writes = std::max(settings.qps, static_cast<double>(settings.burst)) / 4;
  return static_cast<int>(settings.qps <= 0 ? most : std::clamp(writes, fewest, most));
}

}  // namespace fettle
