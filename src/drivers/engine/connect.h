#pragma once
/// Finds the engine to work with, or starts a private Podman.

#include <functional>
#include <memory>
#include <string>

#include "drivers/engine/address.h"
#include "drivers/engine/ssh_tunnel.h"

namespace fettle {

/// An engine that answered, and what has to stay open to reach it.
struct EngineLink {
  EngineAddress address;
  std::shared_ptr<LocalSocket> tunnel{};
};

/// The socket at which an agent's engine is reached. Error: it is not connected.
using AgentSockets = std::function<Result<std::string>(const std::string& name)>;

struct ConnectOptions {
  std::string given;      ///< the value of `--engine`; must answer unless it is empty
  Path private_root;      ///< the folder of a private Podman
  bool may_start = true;  ///< starts it if no engine answers
  /// Called when a private Podman is used.
  std::function<void(const std::string&)> notice{};
  AgentSockets agents{};  ///< none: no server's agents are known here
  Variables variables = process_variable;
  WaitLimits limits{};
};

/// The first engine that answers among those that `find_engines` names, else the private Podman.
Result<EngineLink> connect_engine(HttpClient& http, const ConnectOptions& options,
                                  std::stop_token stop);

/// A link to one address, if an engine answers there.
Result<EngineLink> link_engine(HttpClient& http, const EngineAddress& address,
                               const WaitLimits& limits, std::stop_token stop,
                               const AgentSockets& agents = {});

}  // namespace fettle
