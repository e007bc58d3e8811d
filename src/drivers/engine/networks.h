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
  std::string bridge;  ///< of the interface; at most 15 characters, unique on the machine
  Subnet subnet{};
  std::string gateway{};
  std::vector<std::pair<std::string, std::string>> labels{};
};

enum class NetworkRefusal { none, name_taken, range_taken };
struct NetworkCreated {
  std::string id;
  NetworkRefusal refusal = NetworkRefusal::none;
  std::string said;  ///< by the engine that refused
};

Result<NetworkCreated> create_network(Engine& engine, const NetworkSpec& spec,
                                      std::stop_token stop);
Result<std::optional<NetworkState>> inspect_network(Engine& engine, const std::string& name,
                                                    std::stop_token stop);
Result<std::vector<NetworkState>> list_networks(Engine& engine,
                                                const std::vector<std::string>& labels,
                                                std::stop_token stop);
/// Gone is fine; containers that are still on it are an error.
Status remove_network(Engine& engine, const std::string& name, std::stop_token stop);

/// The name of a bridge: short, and another one for each engine, environment and network, for all
/// bridges of a machine share one list.
std::string bridge_name(std::string_view engine, std::string_view network);

}  // namespace fettle
