#pragma once
/// Networks of an engine.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drivers/engine/engine.h"
#include "drivers/engine/subnets.h"

namespace fettle {

struct NetworkState {
  std::string id;
  std::string name;
  std::string driver;
  std::vector<Subnet> subnets;  ///< IPv4 only
  std::string gateway;
  std::map<std::string, std::string> labels;
};

struct NetworkSpec {
  std::string name;
  std::string bridge;  ///< name of the interface, at most 15 characters, unique on the machine
  Subnet subnet{};
  std::string gateway{};
  std::vector<std::pair<std::string, std::string>> labels{};
};

enum class NetworkRefusal { none, name_taken, range_taken };
struct CreatedNetwork {
  std::string id;
  NetworkRefusal refusal = NetworkRefusal::none;
  std::string said;  ///< the message of the engine that refused
};

Result<CreatedNetwork> create_network(Engine& engine, const NetworkSpec& spec,
                                      std::stop_token stop);
Result<std::optional<NetworkState>> inspect_network(Engine& engine, const std::string& name,
                                                    std::stop_token stop);
Result<std::vector<NetworkState>> list_networks(Engine& engine,
                                                const std::vector<std::string>& labels,
                                                std::stop_token stop);
/// It is no error if the network is gone. It is one if containers are still on it.
Status remove_network(Engine& engine, const std::string& name, std::stop_token stop);

/// A name for a bridge. It is short and different for each engine, environment and network, since
/// all bridges of a machine share one list.
std::string bridge_name(std::string_view engine, std::string_view network);

}  // namespace fettle
