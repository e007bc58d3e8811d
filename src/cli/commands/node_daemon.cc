/// `node-daemon`: pulls on a node of a cluster what its NodeImage orders.

#include "base/text.h"
#include "cli/commands/workload_common.h"
#include "cli/node_request.h"
#include "cli/print.h"

namespace fettle {
namespace {

Result<int> keep_images(Face& face) {
  const NodeRequest request = TRY(node_asked(face.parsed));
  const PullTally tally = TRY(face.serve_node(request));
  if (face.json)
    print_json(document_of(tally));
  else if (!face.quiet)
    print_error(cat("stopped; ", tally.succeeded, " pulls succeeded and ", tally.failed,
                    " failed; what goes on is begun again by the next daemon"));
  return 0;
}

}  // namespace

Command node_daemon_command() {
  return CommandGroup{"workloads", {}, CommandPlace::here}.reader(
      "node-daemon", "", 0, 0,
      "Pulls on a node of a Kubernetes cluster what its NodeImage orders, until you stop it.\n"
      "Pulls into the container runtime of the node's kubelet, and writes the status.",
      {"fettle node-daemon", "fettle node-daemon --kubeconfig ~/.kube/config --node-name n1",
       "fettle node-daemon --max-workers-for-pull-image 2 --socket-file crio/crio.sock"},
      keep_images, node_daemon_options());
}

}  // namespace fettle
