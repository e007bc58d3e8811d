#pragma once
/// Who has which address and which port of this machine. fettle assigns both itself. So no
/// container has to be asked after its start, and both stay over restarts and replacement. The
/// search begins at a place that follows from the name: the same environment gets the same numbers
/// again if they are free. Safe to use from many threads.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>

#include "base/result.h"
#include "core/key.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/subnets.h"

namespace fettle {

/// Whether one can listen on a TCP port of 127.0.0.1 now.
bool is_port_free(int port);

/// The name of `key` as an owner of addresses.
std::string owner_of(const Key& key);

class Allocation {
 public:
  using PortTest = std::function<bool(int port)>;
  explicit Allocation(PortTest is_free = is_port_free) : is_free_(std::move(is_free)) {}

  /// Whether `learn` was called for this network, or the network is known to be new.
  bool knows(const std::string& network_id);
  void learn(const std::string& network_id, const std::vector<ContainerState>& containers);

  /// An address for `owner`: `kept` if it is inside the range and nobody else's, else a free one.
  Result<std::string> address(const std::string& network_id, const Subnet& subnet,
                              const std::string& gateway, const std::string& owner,
                              std::string_view kept);
  void free_address(const std::string& network_id, const std::string& owner);
  /// Somebody else has the address of `owner`: the next one will be another.
  void give_up_address(const std::string& network_id, const std::string& owner);
  /// Whether somebody has an address in this network, even if it has no container yet.
  bool is_used(const std::string& network_id);
  /// Whoever makes a network holds this shared until an address in it is taken. Whoever removes a
  /// network that nobody uses holds it alone.
  std::shared_mutex& networks() { return networks_; }

  /// A port of this machine for `owner`: `kept` if nobody else has it, else a free one.
  Result<int> port(const std::string& owner, int kept);
  /// Takes a port that its owner may have even if somebody listens there: the owner's container.
  void hold_port(const std::string& owner, int port);
  void free_port(const std::string& owner);

 private:
  std::shared_mutex networks_;
  std::mutex mutex_;
  PortTest is_free_;
  std::map<std::string, std::map<uint32_t, std::string>> addresses_;  ///< by network, then address
  std::map<int, std::string> ports_;
};

}  // namespace fettle
