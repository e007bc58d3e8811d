#include "cli/instead.h"

#include <array>
#include <utility>

namespace fettle {
namespace {

constexpr std::pair<std::string_view, std::string_view> commands_elsewhere[] = {
    // Kurtosis, compose and others
    {"lsp", "there is no language server; `fettle check -o json` has the findings"},
    {"context set", "`fettle context use NAME` makes commands run at a server"},
    {"context switch", "`fettle context use NAME` makes commands run at a server"},
    {"enclave connect", "ports are already published on this machine"},
    {"gateway", "ports are already published on this machine"},
    {"portal", "ports are already published on this machine"},
    {"dashboard", "`fettle web` opens a page about all environments"},
    {"cloud", "fettle uses one Docker or Podman: `--engine ADDRESS`, else `$DOCKER_HOST`"},
    {"grafloki", "`fettle service logs -x` shows all logs of an environment"},
    {"status",
     "`fettle enclave inspect ENCLAVE` shows an environment, `fettle engine status` the engine"},
    {"rm", "`fettle enclave rm` removes environments, `fettle service rm` services"},
    {"enclave list", "`fettle enclave ls` lists environments"},
    {"enclave delete", "`fettle enclave rm ENCLAVE` removes an environment"},
    {"service list", "`fettle service ls ENCLAVE` lists services"},
    {"service delete", "`fettle service rm ENCLAVE SERVICE` removes a service"},
    {"files list", "`fettle files ls ENCLAVE` lists files artifacts"},
    {"files delete", "`fettle files rm ENCLAVE ARTIFACT` removes a files artifact"},
    {"ps", "`fettle enclave ls` lists environments, `fettle service ls` services"},
    {"ls", "`fettle enclave ls` lists environments, `fettle service ls` services"},
    {"destroy", "`fettle enclave rm ENCLAVE` removes an environment and everything in it"},
    {"down", "`fettle enclave rm ENCLAVE` removes an environment and everything in it"},
    {"up",
     "`fettle run PACKAGE` runs a package or a compose file, `fettle export --apply` deploys a "
     "model"},
    {"unlock",
     "`fettle force-unlock ENCLAVE` takes the right to act on an environment from a process that "
     "stands still"},
    {"shell", "`fettle service shell ENCLAVE SERVICE` opens a shell in a service"},
    {"stop", "`fettle enclave stop` stops an environment, `fettle service stop` a service"},
    {"start", "`fettle enclave start` starts an environment, `fettle service start` a service"},
    {"restart",
     "`fettle enclave restart` restarts an environment, `fettle service restart` a service"},
    {"deploy", "`fettle export --apply` deploys a model, `fettle run PACKAGE` runs a package"},
    {"history", "`fettle events` shows what happened, `fettle versions ls` versions of a model"},
    {"port-forward", "ports are already published; `fettle port print` prints their addresses"},
    {"fmt", "there is no formatter; `fettle check` finds errors and doubtful code"},
    {"format", "there is no formatter; `fettle check` finds errors and doubtful code"},
    {"test", "`fettle check` finds errors and doubtful code, `fettle plan` shows what is due"},
    {"build", "fettle builds no images: build one with another tool and name it"},
    {"pull", "`fettle run PACKAGE --dependencies --pull` pulls the images of a package"},
    {"login", "log in with the tool of the engine, such as `docker login` or `podman login`"},
    {"engine list", "`fettle engine status` shows the engine"},
    {"engine ls", "`fettle engine status` shows the engine"},
    {"init", "`fettle package init` creates a package, `fettle project init` a model"},
    // kubectl
    {"edit",
     "`fettle get KIND NAME -o yaml` prints an object; `fettle apply -f FILE` takes a changed one, "
     "where `null` takes a field away"},
    {"patch",
     "`fettle get KIND NAME -o yaml` prints an object; `fettle apply -f FILE` takes a changed one, "
     "where `null` takes a field away"},
    {"replace",
     "`fettle apply -f FILE`; to take away what a manifest does not name, delete it first"},
    {"create", "`fettle apply -f FILE` creates what a manifest describes"},
    {"wait",
     "`fettle rollout status KIND/NAME -w` waits for a rollout, and so does `fettle apply`"},
    {"top",
     "fettle does not measure pods; `docker stats` or `podman stats` of the node's engine does"},
    {"debug",
     "`fettle pod exec POD -- sh` runs a shell, `fettle describe pod POD` explains its state"},
    {"expose", "ports are published by `hostPort`; a Service is a manifest for `fettle apply`"},
    {"autoscale", "`fettle scale KIND/NAME --replicas N` scales; nothing here does it by load"},
    {"cluster-info", "`fettle node ls` lists the nodes"},
    {"cordon", "`fettle node cordon NODE`"},
    {"uncordon", "`fettle node uncordon NODE`"},
    {"drain", "`fettle node drain NODE`"},
    {"taint",
     "`fettle node cordon NODE` keeps new pods away, `fettle node add --label` sorts nodes"},
    {"proxy", "ports are already published on this machine"},
    {"kustomize", "`kustomize build FOLDER | fettle apply -f -`"},
    // Inmanta
    {"server",
     "`fettle export --apply` deploys a model from this machine, `fettle serve` is a server of "
     "commands"},
    {"environment", "`fettle enclave ls` lists environments, `fettle enclave add` creates one"},
    {"module", "`fettle project init` creates a project; modules are folders in its `libs`"},
    {"project", "`fettle project init` creates a project"},
    {"project install", "modules are folders in `libs`; there is nothing to install"},
    {"version report", "`fettle versions show` shows a version"},
    {"monitor", "`fettle events` shows what happened"},
    {"action-log", "`fettle events` shows what happened, `fettle why KEY` one resource"},
    {"param", "there are no server parameters: plugins read what they need"},
    {"token", "there is no server, so there is nothing to log in to"},
    // Idem
    {"encrypt", "fettle encrypts nothing; a file of profiles is read as it is"},
    {"decrypt", "fettle encrypts nothing; a file of profiles is read as it is"},
};

constexpr std::array<std::string_view, 3> flags_elsewhere[] = {
    {"apply", "--dry-run", "`fettle diff -f FILE` shows what would change"},
    {"service logs", "--tail", "`-n N` shows the last N lines"},
    {"export", "--dry-run", "`fettle plan` shows what a release would do"},
    {"versions release", "--dry-run", "`fettle plan --version N` shows what it would do"},
    {"state", "--dry-run", "`--test` shows what would change"},
    {"run", "--refresh", "every run looks at what exists"},
    {"apply", "--server-side",
     "there is no server; `apply` merges what it names into what is stored"},
    {"apply", "--force-conflicts",
     "fields have no owners; `apply` takes back the fields that a manifest names"},
    {"apply", "--field-manager",
     "fields have no owners; `apply` takes back the fields that a manifest names"},
    {"apply", "--prune",
     "`fettle delete KIND NAME` or `delete -f FILE` deletes what is not wanted"},
    {"logs", "-l", "`fettle get pods -l LABELS` lists the pods; `fettle logs POD` shows one"},
    {"logs", "--selector",
     "`fettle get pods -l LABELS` lists the pods; `fettle logs POD` shows one"},
    {"exec", "-it", "`fettle pod exec -it POD -- COMMAND` runs a command in a pod"},
    {"exec", "-i", "`fettle pod exec -i POD -- COMMAND` runs a command in a pod"},
    {"exec", "-t", "`fettle pod exec -t POD -- COMMAND` runs a command in a pod"},
    {"get", "-w", "`fettle rollout status KIND/NAME -w` watches a rollout"},
    {"get", "--watch", "`fettle rollout status KIND/NAME -w` watches a rollout"},
    {"rollout status", "--for", "`-w` waits until the rollout is complete"},
    {"apply", "--kubeconfig",
     "`kubectl apply` writes to a cluster; `fettle plan -f FILE` shows what that would do"},
    {"delete", "--kubeconfig", "`kubectl delete` deletes objects of a cluster"},
    {"scale", "--kubeconfig", "`kubectl scale` scales workloads of a cluster"},
    {"set image", "--kubeconfig",
     "`kubectl set image` or `kubectl edit` changes workloads of a cluster"},
    {"label", "--kubeconfig", "`kubectl label` labels objects of a cluster"},
    {"annotate", "--kubeconfig", "`kubectl annotate` annotates objects of a cluster"},
    {"describe workload", "--kubeconfig",
     "`fettle why KIND/NAME` and `get -o yaml` take it, `kubectl describe` shows the rest"},
    {"describe pod", "--kubeconfig", "`kubectl describe pod` describes pods of a cluster"},
    {"logs", "--kubeconfig", "`kubectl logs` reads from pods of a cluster"},
    {"pod exec", "--kubeconfig", "`kubectl exec` runs commands in pods of a cluster"},
    {"plan", "--kubeconfig",
     "in a cluster, manifests are planned: name them with `-f`; `fettle diff` takes none, too"},
};

}  // namespace

std::string_view instead_of(std::string_view words) {
  for (const auto& [name, text] : commands_elsewhere)
    if (words == name)
      return text;
  return {};
}

std::string_view instead_of_flag(std::string_view words, std::string_view spelling) {
  for (const auto& [command, flag, text] : flags_elsewhere)
    if (words == command && spelling == flag)
      return text;
  return {};
}

}  // namespace fettle
