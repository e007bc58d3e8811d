#include "cli/node_request.h"

#include "base/text.h"

namespace fettle {
namespace {

/// As client-go has them, where OpenKruise's daemon is not told others.
constexpr int64_t usual_qps = 5, usual_burst = 10;

constexpr const char* has_no_effect = "no effect; OpenKruise's daemon has it";

/// Zero is what is usual, as for OpenKruise's daemon.
Result<int64_t> rate_asked(const CommandLine& parsed, const std::string& name, int64_t usual) {
  const int64_t number = TRY(parsed.number(name, 0));
  if (number < 0)
    return user_error(cat("`--", name, "` must be at least 0"));
  return number == 0 ? usual : number;
}

}  // namespace

const std::vector<CommandOption>& node_daemon_options() {
  static const std::vector<CommandOption> options{
      {{"--node-name"}, "NAME", "the node (default: $NODE_NAME)"},
      {{"--kubeconfig"}, "FILE", "its cluster (default: that of the pod in which this runs)"},
      {{"--in-cluster"}, "", "its cluster is that of the pod in which this runs"},
      {{"--context"}, "NAME", "of the kubeconfig (default: its current one)"},
      {{"--socket-file"},
       "FILE",
       "the socket of the container runtime (default: that of the kubelet's)"},
      {{"--max-workers-for-pull-image"}, "NUMBER", "pulls at once (default: -1, without a limit)"},
      {{"--rest-config-qps"}, "NUMBER", "requests a second (default: 5)"},
      {{"--rest-config-burst"}, "NUMBER", "requests at once (default: 10)"},
      {{"--addr"},
       "ADDRESS",
       "answer `/healthz` and `/readyz` there; `0`: nowhere (default: `:10221` in a cluster)"},
      {{"--enable-pprof"}, "", has_no_effect},
      {{"--pprof-addr"}, "ADDRESS", has_no_effect},
      {{"--plugin-config-file"}, "FILE", has_no_effect},
      {{"--plugin-bin-dir"}, "FOLDER", has_no_effect},
      {{"--feature-gates"}, "NAME=BOOL,…", has_no_effect},
      {{"--logtostderr"}, "", has_no_effect},
      {{"-v", "--v"}, "NUMBER", has_no_effect}};
  return options;
}

Result<NodeRequest> node_asked(const CommandLine& parsed) {
  NodeRequest request;
  request.cluster.kubeconfig = parsed.text("kubeconfig");
  request.cluster.context = parsed.text("context");
  if (parsed.flag("in-cluster") && !request.cluster.kubeconfig.empty())
    return user_error("`--kubeconfig` and `--in-cluster` name two clusters");
  if (request.cluster.kubeconfig.empty() && parsed.has("context"))
    return user_error("`--context` needs `--kubeconfig`");
  request.cluster.qps = TRY(rate_asked(parsed, "rest-config-qps", usual_qps));
  request.cluster.burst = TRY(rate_asked(parsed, "rest-config-burst", usual_burst));
  request.node = parsed.text("node-name");
  request.socket = parsed.text("socket-file");
  const int64_t most = TRY(parsed.number("max-workers-for-pull-image", -1));
  request.most_pulls = most > 0 ? static_cast<size_t>(most) : 0;
  request.probe_address =
      TRY(address_asked(parsed, "addr", request.cluster.kubeconfig.empty() ? ":10221" : ""));
  return request;
}

}  // namespace fettle
