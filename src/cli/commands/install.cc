/// `install kubernetes` and `uninstall kubernetes`: the controller of a cluster, and its daemons.

#include "base/text.h"
#include "cli/cluster_request.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "controller/cluster_look.h"
#include "documents/cluster.h"
#include "verbs/cluster/take_over.h"

namespace fettle {
namespace {

/// Of `--feature-gates`: those of fettle, whatever is installed.
constexpr std::string_view default_gates = "default";

InstallationRequest installation_asked(const Face& face) {
  InstallationRequest request;
  request.space = face.parsed.text("namespace", request.space);
  request.image = face.parsed.text("image");
  request.version = face.build().version;
  request.gates = face.parsed.text("feature-gates");
  if (request.gates == default_gates) {
    request.gates.clear();
    request.has_default_gates = true;
  }
  request.copies_secrets = face.parsed.flag("copy-pull-secrets");
  for (const std::string& names : face.parsed.all("pull-secrets"))
    for (const std::string_view name : split(names, ','))
      request.secret_spaces.emplace(trim(name));
  return request;
}

Result<kubernetes::Client*> installation_client(Face& face) {
  ClusterRequest request;
  request.kubeconfig = face.parsed.text("kubeconfig");
  request.context = face.parsed.text("context");
  if (request.kubeconfig.empty())
    return user_error("which cluster? `--kubeconfig` names it");
  return &TRY(face.reach_cluster(request)).client;
}

std::string line_text(const InstallationLine& line) {
  return cat(line.kind, " ", line.space, line.space.empty() ? "" : "/", line.name, " ", line.status,
             line.why.empty() ? "" : cat(" (", line.why, ")"));
}

/// The exit code. It says all problems, and not only the first one. Error: the writing broke off.
Result<int> tell_installation(const Face& face, const InstallationReport& report) {
  if (face.json && !report.failure)  // of which there is a document of its own
    print_json(document_of(report));
  if (!face.json && !face.quiet)
    for (const InstallationLine& line : report.objects)
      print(line_text(line));
  for (const std::string& warning : report.warnings)
    print_error(cat("warning: ", warning));
  for (const std::string& problem : report.problems)
    print_error(cat("error: ", problem));
  if (report.failure)
    return *report.failure;
  return report.problems.empty() ? 0 : 2;
}

Result<InstallationReport> installed_as_asked(const Face& face, kubernetes::Client& client,
                                              const InstallationRequest& request,
                                              const std::stop_token& stop) {
  const bool only_looks = face.parsed.flag("check");
  if (face.parsed.flag("take-over")) {
    const ExchangeRequest exchange{.installation = request,
                                   .is_accepted = face.parsed.flag("accept")};
    return only_looks ? check_take_over(client, exchange, stop) : take_over(client, exchange, stop);
  }
  return only_looks ? check_installation(client, request, stop) : install(client, request, stop);
}

Result<int> install_kubernetes(Face& face) {
  const InstallationRequest request = installation_asked(face);
  if (face.parsed.flag("accept") && !face.parsed.flag("take-over"))
    return user_error("`--accept` goes with `--take-over`");
  if (request.copies_secrets && face.output != "yaml")
    return user_error(
        "`--copy-pull-secrets` goes with `-o yaml`; an installation looks whether OpenKruise's "
        "daemon is there");
  if (request.copies_secrets && request.secret_spaces.empty())
    return user_error("of which Secrets? `--pull-secrets NAMESPACE,…` names their namespaces");
  if (face.output == "yaml") {
    for (const char* const flag : {"kubeconfig", "context", "check", "take-over"})
      if (face.parsed.has(flag))
        return user_error(
            cat("`-o yaml` looks at no cluster, so `--", flag, "` means nothing there"));
    print(trim(TRY(installation_text(request))));
    return 0;
  }
  kubernetes::Client* const client = TRY(installation_client(face));
  const std::stop_token stop = TRY(face.workplace())->interrupt->acts_token();
  return tell_installation(face, TRY(installed_as_asked(face, *client, request, stop)));
}

Result<int> uninstall_kubernetes(Face& face) {
  const InstallationRequest request = installation_asked(face);
  kubernetes::Client* const client = TRY(installation_client(face));
  const std::stop_token stop = TRY(face.workplace())->interrupt->acts_token();
  return tell_installation(
      face, TRY(face.parsed.flag("hand-back") ? hand_back(*client, {.installation = request}, stop)
                                              : uninstall(*client, request, stop)));
}

}  // namespace

std::vector<Command> install_commands() {
  const CommandGroup group{
      "workloads",
      {{{"--kubeconfig"}, "FILE", "the cluster"},
       {{"--context"}, "NAME", "of the kubeconfig (default: its current one)"},
       {{"--namespace"}, "NAME", "in which the controller runs (default: kruise-system)"}}};
  Command added = group.make(
      "install kubernetes", "", 0, 0,
      "Installs the controller in a Kubernetes cluster: definitions, rights, two pods of which one "
      "acts, and a daemon on each node.\n"
      "With `-o yaml`, prints what would be applied. What belongs to others stays as it is.",
      {"fettle install kubernetes --kubeconfig ~/.kube/config --check",
       "fettle install kubernetes --kubeconfig ~/.kube/config --image registry.example/fettle:1",
       "fettle install kubernetes --kubeconfig ~/.kube/config --image registry.example/fettle:1 "
       "--take-over",
       "fettle install kubernetes --image registry.example/fettle:1 -o yaml"},
      install_kubernetes,
      {{{"--image"}, "IMAGE", "an image that has fettle; none is published"},
       {{"--pull-secrets"},
        "NAMESPACE,…",
        "where Secrets with logins for registries may be read, by the daemons or, to copy them "
        "for OpenKruise's, by the controller; may be repeated",
        true},
       {{"--copy-pull-secrets"},
        "",
        "with `-o yaml`: what copies these Secrets for OpenKruise's daemon"},
       {{"--feature-gates"},
        "NAME=BOOL,…",
        "of the controller (default: those of the one that is installed); `default` turns all "
        "back"},
       {{"--take-over"}, "", "stop OpenKruise's manager and put aside what it needs"},
       {{"--accept"}, "", "take over although something that is used is not done any more"},
       {{"--check"}, "", "only look: exit code 2 if something would go wrong"}});
  added.outputs = {"yaml"};
  Command taken =
      group.make("uninstall kubernetes", "", 0, 0,
                 "Removes the controller, the daemons and the policies of SidecarSets from a "
                 "Kubernetes cluster. Definitions, workloads and pods stay.",
                 {"fettle uninstall kubernetes --kubeconfig ~/.kube/config",
                  "fettle uninstall kubernetes --kubeconfig ~/.kube/config --hand-back"},
                 uninstall_kubernetes,
                 {{{"--hand-back"}, "", "bring back OpenKruise as it was before `--take-over`"}});
  return {without_state(std::move(added)), without_state(std::move(taken))};
}

}  // namespace fettle
