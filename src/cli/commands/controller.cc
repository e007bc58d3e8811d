/// `controller`: keeps all workloads of a fleet as they are wanted.

#include "base/text.h"
#include "cli/cluster_request.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "controller/cluster_access.h"
#include "documents/events.h"
#include "documents/workloads.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// Says what is done, as it happens.
class ControllerTeller : public Audience {
 public:
  ControllerTeller(const Face& face) : face_(face) {}
  void event(const Event& event) override {
    if (face_.json_lines) {
      print_json_line(line_of(event));
      return;
    }
    const bool matters = event.type == EventType::done || event.type == EventType::failed;
    const Name& kind = event.key.kind;
    if (!matters || face_.quiet || face_.json ||
        (kind != "pod" && kind != "image" && kind != "claim"))
      return;
    std::string line = cat(to_string(event.time), " ", to_string(event.type), " ",
                           to_string(event.verb), " ", shown_key(event.key));
    if (!event.text.empty())
      line += cat(": ", event.text);
    print(event.type == EventType::failed ? in(Colour::red, line, face_.colour) : line);
  }

 private:
  const Face& face_;
};

bool speaks(const Face& face) { return !face.quiet && !face.json && !face.json_lines; }

Result<BringResult> keep_fleet(Face& face, const Workplace& place, const BringOptions& options) {
  if (speaks(face))
    print_error(cat("keeping the workloads of `", fleet_of(face), "`; press Ctrl-C to stop"));
  return bring_workloads(place, fleet_of(face), options);
}

Result<BringResult> keep_cluster(Face& face, const Workplace& place, const ClusterRequest& request,
                                 const BringOptions& options) {
  const workloads::Gates gates = TRY(gates_in(request.gates));
  const ClusterAccess access = TRY(face.cluster(request));
  if (speaks(face))
    print_error("keeping the workloads of the cluster; press Ctrl-C to stop");
  return bring_cluster(place, access, gates, options);
}

Result<int> keep(Face& face) {
  Workplace* place = TRY(face.workplace());
  place->command = "fettle controller";
  place->role = Holder::Role::controller;
  const std::optional<ClusterRequest> cluster = TRY(cluster_asked(face.parsed));
  if (cluster && face.parsed.has("enclave"))
    return user_error("a cluster has no fleets, so `--enclave` means nothing there");
  if (const std::string gates = face.parsed.text("feature-gates"); !gates.empty() && !cluster)
    TRY(put_gates(*place, fleet_of(face), gates));
  ControllerTeller teller(face);
  BringOptions options;
  options.keeps = true;
  options.wait_for_others = !face.parsed.flag("no-lease-wait");
  options.audience = &teller;
  place->interrupt->expect();
  const BringResult brought = TRY(cluster ? keep_cluster(face, *place, *cluster, options)
                                          : keep_fleet(face, *place, options));
  if (face.json)
    print_json(document_of(brought));
  if (speaks(face))
    print_error("stopped; the workloads keep running");
  return 0;
}

}  // namespace

Command controller_command() {
  std::vector<CommandOption> own = cluster_options();
  own.insert(own.begin(), gates_option());
  Command command = CommandGroup{"workloads", {workload_options()[0]}}.reader(
      "controller", "", 0, 0,
      "Keeps the workloads of a fleet as their manifests say, until you stop it.\n"
      "Handles probes, restarts, lost nodes, hooks, and what `apply` stores in the meantime.\n"
      "With `--kubeconfig` or `--in-cluster`, it keeps the CloneSets, StatefulSets,\n"
      "DaemonSets, SidecarSets and pull jobs of a Kubernetes cluster instead.",
      {"fettle controller", "fettle controller -e fleet --output jsonl",
       "fettle controller --kubeconfig ~/.kube/config"},
      keep, own);
  command.tells_lines = true;
  return command;
}

}  // namespace fettle
