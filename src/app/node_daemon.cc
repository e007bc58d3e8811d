#include "app/node_daemon.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "app/cluster.h"
#include "base/http_server.h"
#include "base/text.h"
#include "kubernetes/transport.h"
#include "node/daemon.h"

namespace fettle {
namespace {

/// More threads bring nothing, however many images are ordered at once.
constexpr size_t most_pulls_ever = 64;

/// Where a pod of the daemon sees the machine's own folder, if it is mounted there; OpenKruise's
/// daemon has its sockets in the first one, too.
Path folder_of_machine(const char* in_pod, const char* on_machine) {
  return file_exists(in_pod) ? in_pod : on_machine;
}

HttpReply daemon_reply(std::string_view path, bool is_ready) {
  if (path == "/healthz" || (path == "/readyz" && is_ready))
    return {.body = "ok\n"};
  if (path == "/readyz")
    return {.status = 503, .body = "the container runtime is not known yet\n"};
  return {.status = 404, .body = "there are /healthz and /readyz\n"};
}

}  // namespace

Result<PullTally> serve_node_until(const NodeRequest& request,
                                   const std::function<void(const std::string&)>& tell,
                                   const std::stop_token& stop) {
  node::DaemonSettings settings;
  const char* const named = std::getenv("NODE_NAME");
  settings.node = !request.node.empty() ? request.node : std::string(named == nullptr ? "" : named);
  if (settings.node.empty())
    return user_error("nobody says which node this is: use `--node-name` or `$NODE_NAME`");
  const kubernetes::Config config = TRY(config_of_cluster(request.cluster));
  settings.pulls.most_pulls =
      request.most_pulls == 0 ? most_pulls_ever : std::min(request.most_pulls, most_pulls_ever);
  settings.run_folder = folder_of_machine("/hostvarrun", "/run");
  settings.snap_folder = folder_of_machine("/hostvarsnap", "/var/snap");
  if (!request.socket.empty())
    settings.socket = settings.run_folder / request.socket;  // an absolute one stays
  settings.tell = tell;
  std::atomic<bool> is_ready = false;
  settings.found = [&is_ready] { is_ready = true; };
  // Probes are answered from the beginning, however long the cluster takes.
  std::unique_ptr<HttpServer> health;
  if (!request.probe_address.empty())
    health = TRY(HttpServer::open(request.probe_address, [&is_ready](std::string_view path) {
      return daemon_reply(path, is_ready);
    }));
  kubernetes::ClientSettings client_settings;
  client_settings.qps = static_cast<double>(request.cluster.qps);
  client_settings.burst = static_cast<int>(std::min<int64_t>(request.cluster.burst, 1'000'000));
  client_settings.user_agent = "fettle-node-daemon";
  kubernetes::Client client(std::make_unique<kubernetes::HttpTransport>(config),
                            std::move(client_settings));
  HttpClient http;
  const node::PullCounts counts = node::run_daemon(client, http, settings, stop);
  return PullTally{.succeeded = counts.succeeded, .failed = counts.failed};
}

}  // namespace fettle
