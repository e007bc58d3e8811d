#pragma once
/// Tells others how a cluster's controller fares, over HTTP:
///
///   /healthz  200 while the process answers at all
///   /readyz   200 once all objects are known and this one acts or stands for election, else 503
///             and why not: whoever waits for the lease is ready, or two could never be rolled out
///   /metrics  numbers for Prometheus; every controller counts the pods, so that a graph goes on
///             when another one becomes leader
///
/// Two addresses, since a probe must reach what a collector from elsewhere need not; if they are
/// the same, one server answers all.

#include <memory>
#include <vector>

#include "base/http_server.h"
#include "drivers/kubernetes/cluster_link.h"

namespace fettle {

struct HealthSettings {
  std::string metrics_address{}, probe_address{};  ///< empty: not told
  std::string version{}, commit{};                 ///< of the program
};

/// What is told at `/metrics`.
std::string metrics_of(ClusterLink& link, const HealthSettings& settings, Instant now);

/// Answers until it is destroyed; the link outlives it.
class ClusterHealth {
 public:
  /// Errors: an address is none (`Blame::user`), or is not to be had.
  static Result<std::unique_ptr<ClusterHealth>> open(ClusterLink& link, HealthSettings settings);

  int metrics_port() const { return metrics_port_; }  ///< 0: not told
  int probe_port() const { return probe_port_; }      ///< 0: not told

 private:
  ClusterHealth(ClusterLink& link, HealthSettings settings)
      : link_(link), settings_(std::move(settings)) {}
  Result<int> serve(const std::string& address, bool tells_metrics, bool tells_health);
  HttpReply metrics_reply() const;
  HttpReply readiness_reply() const;

  ClusterLink& link_;
  const HealthSettings settings_;
  int metrics_port_ = 0, probe_port_ = 0;
  std::vector<std::unique_ptr<HttpServer>> servers_;  ///< end first: they use the rest
};

}  // namespace fettle
