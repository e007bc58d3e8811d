#include "drivers/engine/connect.h"

#include "base/text.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/private_podman.h"

namespace fettle {

namespace {

/// What to say when nothing answers: each place that was asked with its reason, then how to get
/// one.
Error no_engine(const std::vector<std::string>& tried, const Error& own) {
  return world_error(
      cat("no container engine answers; tried ",
          tried.empty() ? "the usual sockets, none of which exists" : join(tried, ", "),
          ", and a private Podman: ", to_string(own),
          "; install Docker or Podman, start the one that is installed, or set `--engine` or "
          "`$DOCKER_HOST`; `fettle doctor` shows more"));
}

/// What went wrong, without the address, which has just been named.
std::string reason_of(const Error& error) {
  constexpr std::string_view behind_request = "`: ";
  const std::string& said = error.message;
  const size_t end = said.starts_with('`') ? said.find(behind_request) : said.npos;
  return end == said.npos ? said : said.substr(end + behind_request.size());
}

}  // namespace

Result<EngineLink> link_engine(HttpClient& http, const EngineAddress& address,
                               const WaitLimits& limits, std::stop_token stop) {
  EngineLink link{.address = address};
  if (!address.unix_socket.empty() && !file_exists(address.unix_socket))
    return world_error(cat("there is no socket `", address.unix_socket, "`"));
  if (!address.ssh.empty()) {
    link.tunnel = TRY(open_ssh_tunnel(address.ssh, limits));
    link.address.unix_socket = link.tunnel->path();
  }
  TRY(Engine(http, link.address, {}, limits).ping(stop));
  return link;
}

Result<EngineLink> connect_engine(HttpClient& http, const ConnectOptions& options,
                                  std::stop_token stop) {
  const auto candidates = TRY(find_engines(options.given, options.variables));
  const bool asked_for = !options.given.empty() || options.variables("DOCKER_HOST");
  std::vector<std::string> tried;
  for (const EngineAddress& address : candidates) {
    Result<EngineLink> link = link_engine(http, address, options.limits, stop);
    if (link || is_cancelled(link.error()))
      return link;
    if (asked_for)
      return world_error(cat("no container engine answers at `", address.text, "`, which ",
                             options.given.empty() ? "`$DOCKER_HOST`" : "`--engine`",
                             " names: ", reason_of(link.error())));
    tried.push_back(cat("`", address.text, "` (", reason_of(link.error()), ")"));
  }
  PrivatePodman podman({.root = options.private_root});
  if (!options.may_start && !podman.is_running(stop))
    return world_error("no container engine answers");
  const Result<std::string> socket = podman.start(stop);
  if (!socket)
    return is_cancelled(socket.error()) ? socket.error() : no_engine(tried, socket.error());
  if (options.notice)
    options.notice(cat("no engine answers at the usual sockets: using a private Podman at `unix://",
                       *socket, "`"));
  const EngineAddress address = TRY(parse_engine_address("unix://" + *socket, options.variables));
  return EngineLink{.address = address};
}

}  // namespace fettle
