#pragma once
/// The address of a container engine, and the way to talk to it.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http.h"
#include "base/result.h"

namespace fettle {

struct EngineAddress {
  std::string text;         ///< as given: `unix:///var/run/docker.sock`
  std::string unix_socket;  ///< of a `unix://` address
  std::string base;         ///< `http://engine`, `https://host:2376`
  TlsSettings tls{};
  std::string ssh;  ///< of an `ssh://` address: `user@host:port`, to be tunnelled (ssh_tunnel.h)
  std::string agent{};  ///< of an `agent://` address: its name; where it is, only its server knows
  /// Whether the addresses of containers can be reached from here.
  bool is_local() const { return !unix_socket.empty() && ssh.empty() && agent.empty(); }
};

/// Variables of the environment, by name. None: it is not set.
using Variables = std::function<std::optional<std::string>(const char*)>;
std::optional<std::string> process_variable(const char* name);

/// `unix:///path`, `tcp://host:port`, `http://…`, `https://…`, `ssh://user@host` or
/// `agent://host`. For tcp,
/// `DOCKER_TLS_VERIFY` asks for TLS and `DOCKER_CERT_PATH` is the folder of the files.
Result<EngineAddress> parse_engine_address(std::string_view text, const Variables& variables);

/// In place of an address: the private Podman, whatever else answers.
constexpr std::string_view private_engine = "private";

/// The places where an engine may be, in order: `given`, else `$DOCKER_HOST`, else the usual
/// sockets of engines that exist. Empty: a private Podman is needed.
Result<std::vector<EngineAddress>> find_engines(std::string_view given, const Variables& variables);

}  // namespace fettle
