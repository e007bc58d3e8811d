#include "cli/cluster_request.h"

#include "base/http_server.h"
#include "base/text.h"

namespace fettle {

const std::vector<CommandOption>& cluster_options() {
  static const std::vector<CommandOption> options{
      {{"--kubeconfig"}, "FILE", "keep the workloads of the Kubernetes cluster that it names"},
      {{"--in-cluster"}, "", "keep those of the cluster in which this runs as a pod"},
      {{"--context"}, "NAME", "of the kubeconfig (default: its current one)"},
      {{"--namespace"}, "NAME", "only the workloads of this namespace of the cluster"},
      {{"--enable-leader-election"},
       "",
       "act only while it holds the lease; `=false` is for tests"},
      {{"--leader-election-namespace"}, "NAME", "of the lease (default: kruise-system)"},
      {{"--leader-election-id"}, "NAME", "of the lease (default: kruise-manager)"},
      {{"--rest-config-qps"}, "NUMBER", "requests a second (default: 30)"},
      {{"--rest-config-burst"}, "NUMBER", "requests at once (default: 50)"},
      {{"--metrics-addr"},
       "ADDRESS",
       "tell metrics there; `0`: nowhere (default: `:8080` in a cluster)"},
      {{"--health-probe-addr"},
       "ADDRESS",
       "answer `/healthz` and `/readyz` there; `0`: nowhere (default: `:8000` in a cluster)"},
      {{"--copy-pull-secrets"},
       "",
       "copy Secrets of jobs to where OpenKruise's daemon reads them; for clusters where it "
       "pulls"}};
  return options;
}

Result<std::string> address_asked(const CommandLine& parsed, const std::string& flag,
                                  const std::string& otherwise) {
  std::string address = parsed.text(flag, otherwise);
  if (address == "0")
    address.clear();
  if (!address.empty())
    TRY(parse_listen_address(address).context(cat("--", flag)));
  return address;
}

Result<std::optional<ClusterRequest>> cluster_asked(const CommandLine& parsed) {
  ClusterRequest request;
  request.kubeconfig = parsed.text("kubeconfig");
  const bool is_in_cluster = parsed.flag("in-cluster");
  if (is_in_cluster && !request.kubeconfig.empty())
    return user_error("`--kubeconfig` and `--in-cluster` name two clusters");
  if (!is_in_cluster && request.kubeconfig.empty()) {
    for (const CommandOption& option : cluster_options())
      if (const std::string& flag = option.names.front(); parsed.has(flag.substr(2)))
        return user_error(cat("`", flag, "` needs `--kubeconfig` or `--in-cluster`"));
    return std::optional<ClusterRequest>();
  }
  if (is_in_cluster && parsed.has("context"))
    return user_error("`--context` needs `--kubeconfig`");
  request.context = parsed.text("context");
  request.space = parsed.text("namespace");
  request.gates = parsed.text("feature-gates");
  request.qps = TRY(parsed.number("rest-config-qps", request.qps));
  request.burst = TRY(parsed.number("rest-config-burst", request.burst));
  if (request.qps < 1 || request.burst < 1)
    return user_error("`--rest-config-qps` and `--rest-config-burst` must be at least 1");
  request.copies_secrets = parsed.flag("copy-pull-secrets");
  request.elects = parsed.flag("enable-leader-election", request.elects);
  request.lease_space = parsed.text("leader-election-namespace", request.lease_space);
  request.lease_name = parsed.text("leader-election-id", request.lease_name);
  request.metrics_address =
      TRY(address_asked(parsed, "metrics-addr", is_in_cluster ? ":8080" : ""));
  request.probe_address =
      TRY(address_asked(parsed, "health-probe-addr", is_in_cluster ? ":8000" : ""));
  return std::optional(std::move(request));
}

const std::vector<CommandOption>& cluster_look_options() {
  static const std::vector<CommandOption> options{
      {{"--kubeconfig"}, "FILE", "ask about the Kubernetes cluster that it names"},
      {{"--context"}, "NAME", "of the kubeconfig (default: its current one)"}};
  return options;
}

bool is_about_cluster(const CommandLine& parsed) { return parsed.has("kubeconfig"); }

Result<std::optional<ClusterRequest>> cluster_looked_at(const CommandLine& parsed) {
  if (!is_about_cluster(parsed)) {
    if (parsed.has("context"))
      return user_error("`--context` needs `--kubeconfig`");
    return std::optional<ClusterRequest>();
  }
  ClusterRequest request;
  request.kubeconfig = parsed.text("kubeconfig");
  if (request.kubeconfig.empty())
    return user_error("the flag `--kubeconfig` needs the name of a file");
  if (parsed.has("enclave"))
    return user_error("a cluster has no fleets, so `--enclave` means nothing there");
  request.context = parsed.text("context");
  request.elects = false;
  return std::optional(std::move(request));
}

}  // namespace fettle
