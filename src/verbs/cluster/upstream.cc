#include "verbs/cluster/upstream.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "kubernetes/discovery.h"
#include "verbs/cluster/cluster_objects.h"
#include "workloads/read/gates.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::Client;
using kubernetes::ResourceType;

constexpr std::string_view upstream_groups[] = {"apps.kruise.io", "policy.kruise.io"};
/// Made for each node by OpenKruise itself.
constexpr std::string_view kind_of_probes = "NodePodProbe";
/// A change of it makes pods anew, and the hashes of claims that it compares are not those of fettle.
constexpr std::string_view gate_of_claims = "RecreatePodWhenChangeVCTInCloneSetGate";
/// Gates that ask for nothing that fettle would have to do: they are about webhooks, caches and
/// daemons, always on here, or about kinds, whose objects tell whether they are used.
constexpr std::string_view gates_without_effect[] = {"ImagePullJobGate",
                                                     "TemplateNoDefaults",
                                                     "PodIndexLabel",
                                                     "PodWebhook",
                                                     "StatefulSetAutoDeletePVC",
                                                     "StatefulSetStartOrdinal",
                                                     "DaemonWatchingPod",
                                                     "CloneSetEventHandlerOptimization",
                                                     "ForceDeleteTimeoutExpectationGate",
                                                     "EnableExternalCerts",
                                                     "InPlacePodVerticalScaling",
                                                     "WorkloadSpread",
                                                     "PodUnavailableBudgetDeleteGate",
                                                     "PodUnavailableBudgetUpdateGate",
                                                     "PodProbeMarkerGate",
                                                     "ResourceDistributionGate"};
/// Those of fettle that `AllAlpha` turns on.
constexpr std::string_view alpha_gates[] = {
    "PreDownloadImageForInPlaceUpdate", "PreDownloadImageForDaemonSetUpdate",
    "CloneSetPartitionRollback",        "PreparingUpdateAsUpdate",
    "InPlaceWorkloadVerticalScaling",   "CloneSetShortHash"};

/// The value of a flag among the words of a manager. Empty: it has none.
std::string flag_of_manager(const Value& deployment, std::string_view flag) {
  std::string found;
  for (const Value& container :
       items_of(deployment.at("spec").at("template").at("spec").at("containers")))
    for (const char* const words : {"command", "args"}) {
      bool is_next = false;
      for (const Value& word : items_of(container.at(words))) {
        const std::string text = to_text(word);
        if (is_next)
          found = text;
        is_next = text == flag;
        if (text.starts_with(cat(flag, "=")))
          found = text.substr(flag.size() + 1);
      }
    }
  return found;
}

/// What was named, as it was worded: those of OpenKruise may be unknown here.
std::map<std::string, bool> named_gates(const Value& manager) {
  std::map<std::string, bool> named;
  const std::string text = gates_of_manager(manager);
  for (const std::string_view each : split(text, ',')) {
    const size_t equals = each.find('=');
    const std::string name(trim(each.substr(0, equals)));
    const std::string value =
        equals == each.npos ? std::string() : lower_case(trim(each.substr(equals + 1)));
    if (!name.empty())
      named[name] = value == "true" || value == "1" || value == "t";
  }
  return named;
}

bool is_gate_of_fettle(const std::string& name) {
  return name != gate_of_claims && workloads::read_gates(cat(name, "=true")).has_value();
}

std::string gates_for_controller(std::map<std::string, bool> named) {
  if (const auto all = named.find("AllAlpha"); all != named.end() && all->second)
    for (const std::string_view gate : alpha_gates)
      named.emplace(gate, true);
  const auto daemon = named.find("KruiseDaemon");
  const bool has_daemon = daemon == named.end() || daemon->second;
  std::vector<std::string> words;
  for (const auto& [name, is_on] : named)
    if (is_gate_of_fettle(name) && (has_daemon || !name.starts_with("PreDownload")))
      words.push_back(cat(name, "=", is_on ? "true" : "false"));
  return join(words, ",");
}

std::string advice_for(const std::string& keeper) {
  if (keeper.starts_with("Helm"))
    return cat(keeper,
               " has OpenKruise: upgrade it only with `manager.replicas=0` and "
               "`crds.managed=false`, and run `--take-over` again afterwards, for its chart brings "
               "the webhook configurations back. `helm uninstall` without such an upgrade before "
               "would delete the definitions, and all workloads with them");
  if (keeper.starts_with("Argo"))
    return cat(keeper,
               " has OpenKruise: turn its automatic sync off, or set `manager.replicas: 0` and "
               "`crds.managed: false` there and leave both webhook configurations out; else its "
               "next sync brings OpenKruise back");
  return cat(keeper, " has OpenKruise: suspend it; else its next run brings OpenKruise back");
}

class UpstreamLook {
 public:
  UpstreamLook(Client& client, const std::stop_token& stop) : client_(client), stop_(stop) {}

  /// Null: there is none, or it must not be looked at, which is a problem.
  Result<Value> object(const ResourceType& type, const std::string& name) {
    const auto found = client_.get(type, {"", name}, stop_);
    if (found)
      return *found;
    if (found.error().reason == ApiReason::forbidden)
      add_problem(found.error().message);
    else if (found.error().reason != ApiReason::not_found)
      return static_cast<const Error&>(found.error());
    return Value();
  }

  Result<Value> manager() {
    const auto listed = client_.list(cluster_types::deployments, {},
                                     {.label_selector = "control-plane=controller-manager"}, stop_);
    if (!listed && listed.error().reason == ApiReason::forbidden) {
      add_problem(listed.error().message);
      return Value();
    }
    if (!listed)
      return static_cast<const Error&>(listed.error());
    Value found;
    for (const Value& each : listed->items) {
      if (name_of(each).name != upstream_manager_name)
        continue;
      if (!found.is_null())
        add_problem(cat("there are two managers of OpenKruise: `", to_string(name_of(found)),
                        "` and `", to_string(name_of(each)), "`"));
      found = each;
    }
    return found;
  }

  void add_problem(std::string text) {
    if (std::ranges::find(problems, text) == problems.end())
      problems.push_back(std::move(text));
  }

  std::vector<std::string> problems;

 private:
  Client& client_;
  const std::stop_token stop_;
};

/// `UnitedDeployment: 3 objects`; empty: there are none.
Result<std::string> objects_of_kind(Client& client, const ResourceType& type,
                                    std::vector<std::string>& problems,
                                    const std::stop_token& stop) {
  constexpr int most = 500;
  const auto listed = client.list(type, {}, {.limit = most}, stop);
  if (!listed && listed.error().reason == ApiReason::forbidden) {
    problems.push_back(listed.error().message);
    return std::string();
  }
  // Without its manager, what is stored in another version cannot be shown.
  if (!listed)
    return is_cancelled(listed.error())
               ? Result<std::string>(static_cast<const Error&>(listed.error()))
               : Result<std::string>(
                     cat(type.kind, ": nobody can tell (", listed.error().message, ")"));
  const size_t count = listed->items.size();
  return count == 0 ? std::string()
                    : cat(type.kind, ": ", count, count == 1 ? " object" : " objects",
                          listed->rest.empty() ? "" : " or more");
}

}  // namespace

bool is_taken_over(const Value& definition) {
  return !annotation_of(definition, taken_over_mark).empty() &&
         definition.at("spec").at("conversion").text_at("strategy") != "Webhook";
}

std::span<const UpstreamWebhooks> upstream_webhooks() {
  static const std::array<UpstreamWebhooks, 2> both{
      UpstreamWebhooks{cluster_types::mutating_webhooks, "kruise-mutating-webhook-configuration"},
      UpstreamWebhooks{cluster_types::validating_webhooks,
                       "kruise-validating-webhook-configuration"}};
  return both;
}

std::string gates_of_manager(const Value& deployment) {
  return flag_of_manager(deployment, "--feature-gates");
}

std::string lease_space_of(const Value& deployment) {
  const std::string space = flag_of_manager(deployment, "--leader-election-namespace");
  return space.empty() ? std::string("kruise-system") : space;
}

Result<Upstream> look_at_upstream(Client& client, const InstallationRequest& request,
                                  const std::stop_token& stop) {
  UpstreamLook look(client, stop);
  Upstream found;
  found.manager = TRY(look.manager());
  for (const auto& [type, name] : upstream_webhooks())
    if (Value there = TRY(look.object(type, name)); !there.is_null())
      found.webhooks.push_back({type, std::move(there)});
  for (InstallationObject& part : TRY(installation_objects(request))) {
    if (!is_definition(part))
      continue;
    Value there = TRY(look.object(part.type, part.name.name));
    const bool is_own = has_installation_label(there) && keeper_of(there).empty() &&
                        annotation_of(there, taken_over_mark).empty();
    if (!there.is_null() && !is_own)
      found.definitions.push_back({std::move(part), std::move(there)});
  }
  found.problems = std::move(look.problems);
  return found;
}

Result<UpstreamUse> look_at_use(Client& client, const Upstream& upstream,
                                const std::stop_token& stop) {
  UpstreamUse found;
  UpstreamLook look(client, stop);
  std::set<std::string> own, keepers;
  const auto add_keeper = [&](const Value& object) {
    if (std::string keeper = keeper_of(object); !keeper.empty())
      keepers.insert(std::move(keeper));
  };
  add_keeper(upstream.manager);
  for (const Upstream::Webhooks& each : upstream.webhooks)
    add_keeper(each.there);
  // A definition of ours may have been made where OpenKruise has none.
  for (const InstallationObject& part : TRY(installation_objects({})))
    if (is_definition(part))
      own.insert(part.name.name);
  for (const Upstream::Definition& each : upstream.definitions)
    add_keeper(each.there);
  const auto served = kubernetes::Discovery::ask(client, stop);
  if (!served)
    return static_cast<const Error&>(served.error());
  for (const kubernetes::ServedType& each : served->all()) {
    const std::string name = full_plural(each.type);
    if (std::ranges::find(upstream_groups, each.type.group) == std::end(upstream_groups) ||
        !own.insert(name).second)  // one that fettle has, or another version of one
      continue;
    const Value definition = TRY(look.object(kubernetes::types::definitions, name));
    if (is_kept_by_helm(definition))
      found.kept.push_back(definition);
    if (each.type.kind == kind_of_probes)
      continue;
    std::string used = TRY(objects_of_kind(client, each.type, look.problems, stop));
    if (!used.empty())
      found.unmatched.push_back(std::move(used));
  }
  const std::map<std::string, bool> named = named_gates(upstream.manager);
  for (const auto& [name, is_on] : named)
    if (is_on && !is_gate_of_fettle(name) &&
        std::ranges::find(gates_without_effect, name) == std::end(gates_without_effect))
      found.unmatched.push_back(cat("gate ", name));
  found.gates = gates_for_controller(named);
  for (const std::string& keeper : keepers)
    found.advice.push_back(advice_for(keeper));
  found.problems = std::move(look.problems);
  return found;
}

}  // namespace fettle
