#include "drivers/engine/connect.h"

#include <cerrno>

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/private_podman.h"

namespace fettle {

namespace {

/// The error if nothing answers: each place that was asked with its reason, then how to get an
/// engine.
Error no_engine(const std::vector<std::string>& tried, const Error& own) {
  return world_error(
      cat("no container engine answers; tried ",
          tried.empty() ? "the usual sockets, none of which exists" : join(tried, ", "),
          ", and a private Podman: ", to_string(own),
          "; install Docker or Podman, start the one that is installed, or set `--engine` or "
          "`$DOCKER_HOST`; `fettle doctor` shows more"));
}

/// What went wrong, without the address, which is named just before.
std::string reason_of(const Error& error) {
  constexpr std::string_view behind_request = "`: ";
  const std::string& said = error.message;
  const size_t end = said.starts_with('`') ? said.find(behind_request) : said.npos;
  return end == said.npos ? said : said.substr(end + behind_request.size());
}

/// Whether we may use a socket. If not, the error says who may.
Status check_permission(const std::string& socket) {
  if (access(socket.c_str(), R_OK | W_OK) == 0 || errno != EACCES)
    return {};
  struct stat about{};
  if (stat(socket.c_str(), &about) != 0)
    return world_error("permission denied: you may not enter the folder of this socket");
  const group* const owners = getgrgid(about.st_gid);
  constexpr mode_t group_uses = S_IRGRP | S_IWGRP;
  const bool is_for_group = (about.st_mode & group_uses) == group_uses && about.st_gid != 0;
  const std::string name =
      owners == nullptr || !is_for_group ? std::string() : std::string(owners->gr_name);
  const passwd* const owner = getpwuid(about.st_uid);
  const std::string who =
      owner == nullptr ? std::string("its owner") : cat("`", owner->pw_name, "`");
  return world_error(
      name.empty()
          ? cat("permission denied: only ", about.st_uid == 0 ? std::string("root") : who,
                " may use this socket")
          : cat("permission denied: the group `", name, "` may use this socket; `sudo usermod -aG ",
                name, " $USER` and another login make you a member"));
}

}  // namespace

Result<EngineLink> link_engine(HttpClient& http, const EngineAddress& address,
                               const WaitLimits& limits, std::stop_token stop,
                               const AgentSockets& agents) {
  EngineLink link{.address = address};
  if (!address.agent.empty()) {
    if (!agents)
      return world_error("agents are known to a server of commands alone");
    link.address.unix_socket = TRY(agents(address.agent));
    TRY(Engine(http, link.address, {}, limits).ping(stop));
    return link;
  }
  // To whoever may not look into its folder, a socket seems not to exist.
  if (!address.unix_socket.empty())
    TRY(check_permission(address.unix_socket));
  if (!address.unix_socket.empty() && !file_exists(address.unix_socket))
    return world_error(cat("there is no socket `", address.unix_socket, "`"));
  if (!address.ssh.empty()) {
    SshTunnel tunnel = TRY(open_ssh_tunnel(address.ssh, limits));
    link.tunnel = std::move(tunnel.socket);
    link.address.unix_socket = link.tunnel->path();
    const Status answered = Engine(http, link.address, {}, limits).ping(stop);
    if (!answered && !is_cancelled(answered.error()))
      if (const std::string said = tunnel.words->last(); !said.empty())
        return world_error(cat(said,
                               "; over SSH, an engine needs a login without a question, and "
                               "`docker` or `podman` in the `PATH` of that login"));
    TRY(answered);
    return link;
  }
  TRY(Engine(http, link.address, {}, limits).ping(stop));
  return link;
}

Result<EngineLink> connect_engine(HttpClient& http, const ConnectOptions& options,
                                  std::stop_token stop) {
  const auto candidates = TRY(find_engines(options.given, options.variables));
  const bool wants_own = options.given == private_engine;
  const bool asked_for = !options.given.empty() || options.variables("DOCKER_HOST");
  std::vector<std::string> tried;
  for (const EngineAddress& address : candidates) {
    Result<EngineLink> link = link_engine(http, address, options.limits, stop, options.agents);
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
    return wants_own || is_cancelled(socket.error()) ? socket.error()
                                                     : no_engine(tried, socket.error());
  if (options.notice && !wants_own)
    options.notice(cat("no engine answers at the usual sockets: using a private Podman at `unix://",
                       *socket, "`"));
  const EngineAddress address = TRY(parse_engine_address("unix://" + *socket, options.variables));
  return EngineLink{.address = address};
}

}  // namespace fettle
