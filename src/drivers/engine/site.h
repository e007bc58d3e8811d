#pragma once
/// The things that the parts of the driver share.

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/driver.h"
#include "drivers/engine/allocation.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/subnets.h"
#include "drivers/engine/volumes.h"

namespace fettle {

struct EngineDriverOptions {
  Name name = "engine";       ///< its name in resources; for a node `engine@NODE`
  std::string home{};         ///< the owner of these things: several homes may use one engine
  Duration stop_grace = 10s;  ///< between TERM and KILL
  WaitLimits limits{};
  bool rollback = true;  ///< if a replacement fails, the old container is started again
  std::span<const Subnet> pools = own_pools;  ///< the ranges for networks
  /// Our login at a registry (`docker.io`, `host:5000`), if there is one.
  LoginSource login{};
  CallObserver on_call{};
};

class PodProbes;

struct Site {
  HttpClient& http;
  Engine& engine;
  Blobs& blobs;
  Allocation& allocation;
  const EngineDriverOptions& options;
  PodProbes& probes;
};

/// The marks of things that this home makes, and the key that labels stand for. None: they are not
/// ours.
Labels own_marks(const Site& site, const Key& key);
std::optional<Key> own_key(const Site& site, const std::map<std::string, std::string>& labels);
/// For a name that somebody else has.
Error taken_error(std::string_view what, std::string_view name,
                  const std::map<std::string, std::string>& labels);

/// The lists of the engine without things of other homes.
Result<std::vector<ContainerState>> own_containers(const Site& site,
                                                   const std::vector<std::string>& labels,
                                                   std::stop_token stop);
Result<std::vector<NetworkState>> own_networks(const Site& site,
                                               const std::vector<std::string>& labels,
                                               std::stop_token stop);
Result<std::vector<VolumeState>> own_volumes(const Site& site,
                                             const std::vector<std::string>& labels,
                                             std::stop_token stop);
/// Error: another home has a volume of this name.
Status make_own_volume(const Site& site, const std::string& name, const Key& key,
                       std::stop_token stop, bool in_memory = false);
/// A volume of another home stays.
Status remove_own_volume(const Site& site, const Key& key, std::stop_token stop);

/// The record of the service that an action names in its attributes. Error: the action needs none.
Result<const Record*> host_of(const Act& act);

}  // namespace fettle
