#include "drivers/engine/connect.h"

#include "base/text.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/private_podman.h"

namespace fettle {

Result<EngineLink> link_engine(HttpClient& http, const EngineAddress& address,
                               std::stop_token stop) {
  EngineLink link{.address = address};
  if (!address.ssh.empty()) {
    link.tunnel = TRY(SshTunnel::open(address.ssh));
    link.address.unix_socket = link.tunnel->socket();
  }
  TRY(Engine(http, link.address).ping(stop));
  return link;
}

Result<EngineLink> connect_engine(HttpClient& http, const ConnectOptions& options,
                                  std::stop_token stop) {
  const auto candidates = TRY(find_engines(options.given, options.variables));
  const bool asked_for = !options.given.empty() || options.variables("DOCKER_HOST");
  for (const EngineAddress& address : candidates) {
    Result<EngineLink> link = link_engine(http, address, stop);
    if (link || asked_for)
      return std::move(link).context(cat("looking for an engine at `", address.text, "`"));
  }
  PrivatePodman podman({.root = options.private_root});
  const std::string socket =
      TRY(podman.start(stop).context("starting a private Podman, since no engine answers"));
  if (options.notice)
    options.notice(cat("no engine answers at the usual places: using a private Podman at `unix://",
                       socket, "`"));
  const EngineAddress address = TRY(parse_engine_address("unix://" + socket, options.variables));
  return EngineLink{.address = address};
}

}  // namespace fettle
