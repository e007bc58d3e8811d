#include "app/cluster.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/text.h"
#include "controller/workload_objects.h"
#include "kubernetes/config.h"

namespace fettle {
namespace {

std::optional<std::string> process_value(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Unlike that of any other process.
std::string identity_of(const Workplace& place) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0)
    host[0] = '\0';
  return cat(host.data(), "_", new_uuid(place));
}

}  // namespace

Result<kubernetes::Config> config_of_cluster(const ClusterRequest& request) {
  if (request.kubeconfig.empty())
    return kubernetes::read_in_cluster(process_value);
  return kubernetes::read_kubeconfig({request.kubeconfig}, request.context);
}

Result<ReachedCluster> reach_cluster(const ClusterRequest& request) {
  const kubernetes::Config config = TRY(config_of_cluster(request));
  return ReachedCluster{
      std::make_unique<kubernetes::Client>(std::make_unique<kubernetes::HttpTransport>(config)),
      config.space};
}

Result<ClusterConnection> link_cluster(const ClusterRequest& request, const Workplace& place,
                                       const Build& build) {
  const kubernetes::Config config = TRY(config_of_cluster(request));
  ClusterSettings settings;
  settings.client.qps = static_cast<double>(request.qps);
  settings.client.burst = static_cast<int>(request.burst);
  settings.space = request.space;
  settings.gates = TRY(gates_in(request.gates));
  settings.copies_secrets = request.copies_secrets;
  if (request.elects)
    settings.lease = kubernetes::LeaseSettings{.lease = {request.lease_space, request.lease_name},
                                               .identity = identity_of(place)};
  settings.lease_lost = [&place] {
    place.tell("the lease is lost; another controller may act now");
    place.interrupt->ask();
  };
  auto link = std::make_unique<ClusterLink>(std::make_unique<kubernetes::HttpTransport>(config),
                                            std::move(settings), place.clock, place.random());
  // Probes are answered from the beginning, however long the cluster takes.
  auto health = TRY(ClusterHealth::open(*link, {.metrics_address = request.metrics_address,
                                                .probe_address = request.probe_address,
                                                .version = build.version,
                                                .commit = build.commit}));
  const std::stop_token stop = place.interrupt->acts_token();
  TRY(link->check(stop));
  for (const std::string& plural : TRY(link->unkept(stop)))
    place.tell(cat("warning: the `", plural, "` of the cluster are not kept yet"));
  link->begin();
  if (request.elects)
    place.tell(cat("standing for election by the lease `", request.lease_space, "/",
                   request.lease_name, "`"));
  TRY(link->await_lease(stop));
  return ClusterConnection{std::move(link), std::move(health)};
}

}  // namespace fettle
