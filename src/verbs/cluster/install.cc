#include "verbs/cluster/install.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cluster/secret_copies.h"
#include "cluster/types.h"
#include "kubernetes/discovery.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/put_aside.h"
#include "verbs/cluster/upstream.h"

namespace fettle {
namespace {

using cluster::copy_space;
using cluster_types::daemon_sets;
using cluster_types::deployments;
using kubernetes::ApiReason;
using kubernetes::Client;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

const ResourceType role_type{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
const ResourceType role_binding_type{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                     "RoleBinding"};
constexpr std::string_view upstream_daemon = "kruise-daemon";
constexpr std::string_view needed_version = "v1beta1";

bool is_namespace(const InstallationObject& part) { return part.type.kind == "Namespace"; }

bool is_policy(const InstallationObject& part) {
  return part.type.kind.starts_with("ValidatingAdmissionPolicy");
}

/// Whose an object is; empty: ours.
std::string owner_of_installed(const InstallationObject& part, const Value& object) {
  if (std::string keeper = keeper_of(object); !keeper.empty() || has_installation_label(object))
    return keeper;
  return is_definition(part) ? "OpenKruise" : "somebody else";
}

/// Another namespace in which an installation is, by what grants its rights; empty: none. Two would
/// share one role of the cluster.
std::string other_space(const InstallationObject& part, const Value& there) {
  if (part.type.kind != "ClusterRoleBinding")
    return {};
  for (const Value& subject : items_of(there.at("subjects")))
    for (const Value& own : items_of(part.object.at("subjects")))
      if (subject.text_at("namespace") != own.text_at("namespace"))
        return std::string(subject.text_at("namespace"));
  return {};
}

std::string installed_in(std::string_view space) {
  return cat("fettle is installed in `", space, "`: say `--namespace ", space, "`");
}

InstallationLine line_of_part(const InstallationObject& part, std::string status,
                              std::string why = {}) {
  return line_of(part.type, part.name, std::move(status), std::move(why));
}

std::string shown_name(const Value& object) {
  const Value& metadata = object.at("metadata");
  return cat("`", metadata.text_at("namespace"), "/", metadata.text_at("name"), "`");
}

/// In all namespaces.
kubernetes::ApiResult<std::vector<Value>> list_named(Client& client, const ResourceType& type,
                                                     std::string_view name,
                                                     const std::stop_token& stop) {
  auto listed = client.list(type, {}, {.field_selector = cat("metadata.name=", name)}, stop);
  if (!listed)
    return tl::unexpected(listed.error());
  return std::move(listed->items);
}

/// The namespaces in which an installation lets Secrets be read, by role.
struct SecretSpaces {
  std::set<std::string> of_daemons{}, of_controller{};
  std::string refusal{};  ///< why there may be more; empty: there are none
};

Result<SecretSpaces> spaces_with_secrets(Client& client, const std::stop_token& stop) {
  SecretSpaces found;
  for (const auto& [role, spaces] : {std::pair(secret_role_name, &found.of_daemons),
                                     std::pair(copied_role_name, &found.of_controller)})
    for (const ResourceType& type : {role_type, role_binding_type}) {
      const auto listed = list_named(client, type, role, stop);
      if (!listed && listed.error().reason != ApiReason::forbidden)
        return static_cast<const Error&>(listed.error());
      if (!listed) {
        found.refusal = listed.error().message;
        continue;
      }
      for (const Value& each : *listed)
        if (has_installation_label(each))
          spaces->emplace(each.at("metadata").text_at("namespace"));
    }
  return found;
}

std::string missing_right(std::string_view verb, const InstallationObject& part) {
  return cat("you may not ", verb, " `", full_plural(part.type), "`",
             part.name.space.empty() ? "" : cat(" in `", part.name.space, "`"));
}

/// OpenKruise's daemon, in whichever namespace.
struct UpstreamDaemon {
  std::string name{};     ///< as it is shown; empty: it is not there
  std::string refusal{};  ///< why nobody knows; else empty
};

Result<UpstreamDaemon> find_upstream_daemon(Client& client, const std::stop_token& stop) {
  const auto found = list_named(client, daemon_sets, upstream_daemon, stop);
  if (!found && found.error().reason == ApiReason::forbidden)
    return UpstreamDaemon{.name = {}, .refusal = found.error().message};
  if (!found)
    return static_cast<const Error&>(found.error());
  return UpstreamDaemon{.name = found->empty() ? std::string() : shown_name(found->front()),
                        .refusal = {}};
}

/// Where OpenKruise's daemon pulls, it reads copies of Secrets.
InstallationRequest request_beside(InstallationRequest request, const UpstreamDaemon& daemon) {
  request.copies_secrets = !daemon.name.empty();
  return request;
}

/// Whether the server does not want it, so that trying again is in vain.
bool is_refusal(ApiReason reason) {
  return reason == ApiReason::forbidden || reason == ApiReason::conflict ||
         reason == ApiReason::invalid || reason == ApiReason::bad_request;
}

bool serves(const Value& definition, std::string_view version) {
  return std::ranges::any_of(
      items_of(definition.at("spec").at("versions")),
      [&](const Value& each) { return each.text_at("name") == version && each.bool_at("served"); });
}

/// A look at all that an installation concerns.
class InstallationCheck {
 public:
  InstallationCheck(Client& client, const InstallationRequest& request,
                    const std::vector<InstallationObject>& parts, const UpstreamDaemon& daemon,
                    const std::stop_token& stop)
      : client_(client),
        request_(request),
        parts_(parts),
        daemon_(daemon),
        stop_(stop),
        has_daemon_(!daemon.name.empty()) {}

  Status run() {
    TRY(look_for_daemon());
    TRY(look_for_policies());
    for (const InstallationObject& part : parts_)
      TRY(look_at(part));
    TRY(look_for_secret_spaces());
    TRY(look_for_rights());
    if (!request_.is_exchange)
      TRY(look_for_manager());
    return report.problems.empty() ? look_for_refusals() : Status();
  }

  InstallationReport report;
  /// Those that are to be applied, with the version that is there; empty: none is.
  std::vector<std::pair<const InstallationObject*, std::string>> due;
  std::string gates;  ///< of the controller that is there

 private:
  /// Once, however many objects have it.
  void add_problem(std::string text) {
    if (std::ranges::find(report.problems, text) == report.problems.end())
      report.problems.push_back(std::move(text));
  }

  /// What OpenKruise's daemon is, if it is there.
  Status look_for_daemon() {
    if (!daemon_.refusal.empty())
      add_problem(daemon_.refusal);
    if (!has_daemon_)
      return {};
    const std::string& theirs = daemon_.name;
    for (const InstallationObject& part : parts_)
      if (part.type.kind == daemon_sets.kind &&
          !TRY(find_object(client_, part.type, part.name, stop_)).is_null()) {
        report.warnings.push_back(cat("OpenKruise's daemon ", theirs, " and fettle's `",
                                      to_string(part.name),
                                      "` pull the same images: delete one of these DaemonSets"));
        return {};
      }
    report.warnings.push_back(cat("OpenKruise's daemon ", theirs,
                                  " pulls images on nodes, so fettle's is left out; to have that, "
                                  "delete the DaemonSet and install again"));
    return {};
  }

  Status look_for_policies() {
    const auto served = kubernetes::Discovery::ask(client_, stop_);
    if (!served)
      return static_cast<const Error&>(served.error());
    for (const InstallationObject& part : parts_)
      if (is_policy(part) &&
          served->find(part.type.group, part.type.version, part.type.plural) == nullptr)
        unserved_.insert(part.type.kind);
    if (!unserved_.empty() && !has_daemon_)
      report.warnings.push_back(
          "the server has no ValidatingAdmissionPolicy, which Kubernetes has from 1.30 on: a "
          "daemon that somebody has taken over could write the status of any NodeImage");
    return {};
  }

  /// Why a part is not installed; empty: it is.
  std::string why_omitted(const InstallationObject& part) const {
    if (has_daemon_ && is_of_daemons(part))
      return "OpenKruise's daemon pulls images";
    return unserved_.contains(part.type.kind) ? "the server does not serve its type" : "";
  }

  Status look_at(const InstallationObject& part) {
    if (unserved_.contains(part.type.kind)) {
      report.objects.push_back(line_of_part(part, "omitted", why_omitted(part)));
      return {};
    }
    const auto found = client_.get(part.type, part.name, stop_);
    if (!found && found.error().reason == ApiReason::forbidden) {
      report.problems.push_back(found.error().message);
      return {};
    }
    if (!found && found.error().reason != ApiReason::not_found)
      return static_cast<const Error&>(found.error());
    const Value there = found ? *found : Value();
    if (const std::string why = why_omitted(part); !why.empty()) {
      report.objects.push_back(line_of_part(part, there.is_null() ? "omitted" : "left", why));
      return {};
    }
    if (there.is_null()) {
      report.objects.push_back(line_of_part(part, "missing"));
      due.emplace_back(&part, "");
      return {};
    }
    if (is_going(there))
      report.problems.push_back(cat(shown_object(part.type, part.name), " is being deleted"));
    if (is_definition(part) && is_taken_over(there)) {
      report.objects.push_back(line_of_part(part, "left", "it stands in place of OpenKruise's"));
      // A controller would read objects in a version in which they are not written yet.
      if (!request_.is_exchange && annotation_of(there, taken_over_mark) != mark_whole)
        add_problem(
            "OpenKruise is put aside by half: `--take-over` goes on, or `--hand-back` back");
      return {};
    }
    const std::string owner = owner_of_installed(part, there);
    if (!owner.empty()) {
      report.objects.push_back(line_of_part(part, "left", cat("it is of ", owner)));
      look_at_foreign(part, there, owner);
      return {};
    }
    if (const std::string space = other_space(part, there); !space.empty())
      add_problem(installed_in(space));
    if (part.type == deployments)
      gates = gates_of_manager(there);
    report.objects.push_back(line_of_part(part, "there"));
    due.emplace_back(&part, std::string(there.at("metadata").text_at("resourceVersion")));
    return {};
  }

  void look_at_foreign(const InstallationObject& part, const Value& there,
                       const std::string& owner) {
    if (!is_definition(part)) {
      if (!is_namespace(part))
        report.problems.push_back(cat(shown_object(part.type, part.name), " is of ", owner));
      return;
    }
    if (request_.is_exchange)
      return;
    if (!serves(there, needed_version))
      report.problems.push_back(cat(shown_object(part.type, part.name), " is of ", owner,
                                    " and does not serve `", needed_version, "`"));
    if (there.at("spec").at("conversion").text_at("strategy") == "Webhook")
      has_conversion_ = true;
  }

  /// Each has to be there. What an earlier installation granted is said.
  Status look_for_secret_spaces() {
    for (const std::string& space : request_.secret_spaces)
      if (!TRY(has_namespace(space)) && space != request_.space)
        add_problem(cat("there is no namespace `", space, "`, which `--pull-secrets` names"));
    if (request_.copies_secrets && !request_.secret_spaces.empty() &&
        !TRY(has_namespace(copy_space)))
      add_problem(
          cat("there is no namespace `", copy_space, "`, where OpenKruise's daemon reads Secrets"));
    const SecretSpaces before = TRY(spaces_with_secrets(client_, stop_));
    if (!before.refusal.empty())
      report.warnings.push_back(before.refusal);
    for (const std::string& space : before.of_daemons)
      if (!request_.secret_spaces.contains(space))
        warn_of_right("daemons go on reading Secrets in `", space,
                      "`, which `--pull-secrets` does not name", secret_role_name);
    for (const std::string& space : before.of_controller)
      if (!request_.copies_secrets)
        warn_of_right("the controller may still read Secrets in `", space,
                      "`, which it copied for OpenKruise's daemon", copied_role_name);
      else if (!request_.secret_spaces.contains(space))
        warn_of_right("the controller goes on copying Secrets of `", space,
                      "`, which `--pull-secrets` does not name", copied_role_name);
    return {};
  }

  /// Also if nobody may say, which is a problem of its own.
  Result<bool> has_namespace(std::string_view space) {
    const auto found = client_.get(cluster::types::spaces, {"", std::string(space)}, stop_);
    if (!found && found.error().reason == ApiReason::forbidden)
      add_problem(found.error().message);
    else if (!found && found.error().reason != ApiReason::not_found)
      return static_cast<const Error&>(found.error());
    return found || found.error().reason == ApiReason::forbidden;
  }

  void warn_of_right(std::string_view what, std::string_view space, std::string_view why,
                     std::string_view role) {
    report.warnings.push_back(cat(what, space, why, "; `kubectl delete role,rolebinding ", role,
                                  " -n ", space, "` ends that"));
  }

  Status look_for_rights() {
    std::set<std::tuple<std::string, std::string, std::string>> asked;
    for (const auto& [part, version] : due)
      for (const std::string verb : {"create", "patch"}) {
        const bool is_new = asked.emplace(verb, full_plural(part->type), part->name.space).second;
        if (is_new && !TRY(is_allowed(client_, verb, part->type, part->name.space, stop_)))
          report.problems.push_back(missing_right(verb, *part));
      }
    return {};
  }

  Status look_for_manager() {
    bool runs = false;
    const auto listed = client_.list(deployments, {},
                                     {.label_selector = "control-plane=controller-manager"}, stop_);
    if (!listed && listed.error().reason == ApiReason::forbidden) {
      report.problems.push_back(listed.error().message);
      return {};
    }
    if (!listed)
      return static_cast<const Error&>(listed.error());
    for (const Value& each : listed->items) {
      const Value& metadata = each.at("metadata");
      if (metadata.text_at("name") != upstream_manager_name ||
          each.at("spec").integer_at("replicas", 1) == 0)
        continue;
      runs = true;
      const std::string space = lease_space_of(each);
      if (space != request_.space)
        report.problems.push_back(cat("OpenKruise's manager runs and has its lease in `", space,
                                      "`, so both would act: install there, by `--namespace ",
                                      space, "`"));
      else
        report.warnings.push_back(
            "OpenKruise's manager runs; it goes on until it loses the lease `kruise-manager`");
    }
    return runs ? Status() : look_for_remains();
  }

  /// Without a manager, what asks it waits in vain.
  Status look_for_remains() {
    if (has_conversion_)
      report.warnings.push_back(
          "OpenKruise's definitions ask its manager for conversions, and it does not run: objects "
          "cannot be read in another version than the stored one");
    for (const auto& [type, name] : upstream_webhooks()) {
      const auto found = client_.get(type, {"", name}, stop_);
      if (found)
        report.warnings.push_back(cat("`", name,
                                      "` stands while OpenKruise's manager does not run: the "
                                      "server refuses the writes that it is asked about"));
      else if (found.error().reason == ApiReason::forbidden)
        report.warnings.push_back(found.error().message);
      else if (found.error().reason != ApiReason::not_found)
        return static_cast<const Error&>(found.error());
    }
    return {};
  }

  /// Rights that one may not give away, fields of other managers, rules of the cluster.
  Status look_for_refusals() {
    for (const auto& [part, version] : due)
      if (const auto answer = send_part(client_, *part, true, stop_); !answer) {
        // What it stands in, or names, is made first.
        if (answer.error().reason == ApiReason::not_found)
          continue;
        if (!is_refusal(answer.error().reason))
          return static_cast<const Error&>(answer.error());
        report.problems.push_back(answer.error().message);
      }
    return {};
  }

  Client& client_;
  const InstallationRequest& request_;
  const std::vector<InstallationObject>& parts_;
  const UpstreamDaemon& daemon_;
  const std::stop_token stop_;
  bool has_conversion_ = false;
  const bool has_daemon_;           ///< OpenKruise's
  std::set<std::string> unserved_;  ///< kinds that the server does not know
};

Result<InstallationLine> apply_part(Client& client, const InstallationObject& part,
                                    const std::string& version, const std::stop_token& stop) {
  const Value answer = TRY(send_part(client, part, false, stop));
  const bool is_same = answer.at("metadata").text_at("resourceVersion") == version;
  return line_of_part(part, version.empty() ? "created" : is_same ? "unchanged" : "configured");
}

/// What a server makes by itself in each namespace.
bool is_of_the_server(const ResourceType& type, const Value& object) {
  const std::string_view name = object.at("metadata").text_at("name");
  return (type.plural == "configmaps" &&
          (name == "kube-root-ca.crt" || name == "openshift-service-ca.crt")) ||
         (type.plural == "secrets" &&
          object.text_at("type") == "kubernetes.io/service-account-token");
}

/// Why a namespace does not go: something in it is not ours, or nobody knows. Empty: there is
/// nothing. Revisions are there for as long as their SidecarSets are, which stay.
Result<std::string> reason_to_leave(Client& client, const std::string& space,
                                    const std::stop_token& stop) {
  const std::vector<ResourceType> types{
      {"", "v1", "pods", "Pod"},
      deployments,
      daemon_sets,
      {"apps", "v1", "statefulsets", "StatefulSet"},
      {"apps", "v1", "replicasets", "ReplicaSet"},
      {"apps", "v1", "controllerrevisions", "ControllerRevision"},
      {"batch", "v1", "jobs", "Job"},
      {"batch", "v1", "cronjobs", "CronJob"},
      {"apps.kruise.io", "v1beta1", "clonesets", "CloneSet"},
      {"apps.kruise.io", "v1beta1", "statefulsets", "StatefulSet"},
      {"apps.kruise.io", "v1beta1", "daemonsets", "DaemonSet"},
      {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
      {"", "v1", "configmaps", "ConfigMap"},
      {"", "v1", "secrets", "Secret"},
      {"", "v1", "services", "Service"}};
  for (const ResourceType& type : types) {
    const auto listed = client.list(type, space, {}, stop);
    if (!listed && listed.error().reason == ApiReason::not_found)
      continue;  // no server has what it does not serve
    if (!listed && listed.error().reason == ApiReason::forbidden)
      return cat("it may have `", type.plural, "`, which you may not list");
    if (!listed)
      return static_cast<const Error&>(listed.error());
    for (const Value& each : listed->items)
      if (!has_installation_label(each) && !is_of_the_server(type, each))
        return cat("it has ", type.kind, " `", each.at("metadata").text_at("name"), "`");
  }
  return std::string();
}

Result<InstallationLine> remove_part(Client& client, const InstallationObject& part,
                                     const std::stop_token& stop) {
  const Value there = TRY(find_object(client, part.type, part.name, stop));
  if (there.is_null())
    return line_of_part(part, "absent");
  if (is_definition(part))
    return line_of_part(part, "left", "all objects of its type would go with it");
  if (const std::string owner = owner_of_installed(part, there); !owner.empty())
    return line_of_part(part, "left", cat("it is of ", owner));
  if (is_namespace(part))
    if (std::string why = TRY(reason_to_leave(client, part.name.name, stop)); !why.empty())
      return line_of_part(part, "left", std::move(why));
  const auto removed = client.remove(part.type, part.name,
                                     {.uid = std::string(there.at("metadata").text_at("uid")),
                                      .propagation = kubernetes::Propagation::background},
                                     stop);
  if (!removed && removed.error().reason != ApiReason::not_found)
    return static_cast<const Error&>(removed.error());
  return line_of_part(part, "deleted");
}

/// What puts sidecars into new pods of others: a server goes on with it when no controller runs. A
/// controller has made it for each SidecarSet, and it is known by its label.
Result<std::vector<InstallationObject>> injecting_parts(Client& client, InstallationReport& report,
                                                        const std::stop_token& stop) {
  std::vector<InstallationObject> found;
  const auto served = kubernetes::Discovery::ask(client, stop);
  if (!served)
    return static_cast<const Error&>(served.error());
  for (const char* const plural :
       {"mutatingadmissionpolicybindings", "mutatingadmissionpolicies"}) {
    const auto* const known = served->find("admissionregistration.k8s.io", plural);
    if (known == nullptr)
      continue;
    const std::string label = cat(installation_label, "=", installation_name);
    const auto listed = client.list(known->type, {}, {.label_selector = label}, stop);
    if (!listed && listed.error().reason == ApiReason::forbidden) {
      report.warnings.push_back(cat(listed.error().message,
                                    "; those of SidecarSets stay and go on injecting: `kubectl "
                                    "delete ",
                                    plural, " -l ", label, "` ends that"));
      continue;
    }
    if (!listed)
      return static_cast<const Error&>(listed.error());
    for (const Value& each : listed->items)
      found.push_back({known->type, {"", std::string(each.at("metadata").text_at("name"))}, each});
  }
  return found;
}

/// Copies of Secrets that nobody keeps any more.
Result<std::vector<InstallationObject>> secret_copies(Client& client, InstallationReport& report,
                                                      const std::stop_token& stop) {
  std::vector<InstallationObject> found;
  const std::string space(copy_space);
  const std::string label = cat(installation_label, "=", installation_name);
  const auto listed = client.list(cluster::types::secrets, space, {.label_selector = label}, stop);
  if (!listed && listed.error().reason != ApiReason::forbidden)
    return static_cast<const Error&>(listed.error());
  if (!listed)
    report.warnings.push_back(cat(listed.error().message,
                                  "; copies of Secrets, if there are any, stay: `kubectl ",
                                  "delete secrets -n ", space, " -l ", label, "` ends that"));
  else
    for (const Value& each : listed->items)
      if (std::string name(each.at("metadata").text_at("name")); cluster::is_own_copy(name))
        found.push_back({cluster::types::secrets, {space, std::move(name)}, each});
  return found;
}

/// Of all that is to go but the namespace, which may stay.
Status look_for_rights_to_delete(Client& client, const std::vector<InstallationObject>& parts,
                                 InstallationReport& report, const std::stop_token& stop) {
  std::set<std::pair<std::string, std::string>> asked;
  for (const InstallationObject& part : parts) {
    if (is_definition(part) || is_namespace(part))
      continue;
    const Value there = TRY(find_object(client, part.type, part.name, stop));
    if (there.is_null() || !owner_of_installed(part, there).empty() ||
        !asked.emplace(full_plural(part.type), part.name.space).second)
      continue;
    if (!TRY(is_allowed(client, "delete", part.type, part.name.space, stop)))
      report.problems.push_back(missing_right("delete", part));
  }
  return {};
}

/// Whether the controller may write copies of Secrets: whoever takes away the rights to read their
/// sources, one namespace after the other, may leave that one.
Result<bool> may_write_copies(Client& client, const std::stop_token& stop) {
  const auto found =
      client.get(role_type, {std::string(copy_space), std::string(copies_role_name)}, stop);
  if (!found && found.error().reason != ApiReason::not_found &&
      found.error().reason != ApiReason::forbidden)
    return static_cast<const Error&>(found.error());
  return found && has_installation_label(*found);
}

struct Uninstallation {
  std::vector<InstallationObject> parts{};  ///< in the order in which they go
  InstallationReport report{};
};

Result<Uninstallation> look_before_uninstall(Client& client, const InstallationRequest& request,
                                             const std::stop_token& stop) {
  Uninstallation found;
  InstallationRequest whole = request;
  const SecretSpaces granted = TRY(spaces_with_secrets(client, stop));
  const bool writes_copies = TRY(may_write_copies(client, stop));
  whole.copies_secrets = writes_copies || !granted.of_controller.empty();
  for (const std::set<std::string>& spaces : {granted.of_daemons, granted.of_controller})
    whole.secret_spaces.insert(spaces.begin(), spaces.end());
  // A file about Secrets is of a namespace in which some are read.
  if (!granted.refusal.empty() || (writes_copies && whole.secret_spaces.empty()))
    whole.secret_spaces.insert(request.space);
  if (!granted.refusal.empty()) {
    found.report.warnings.push_back(
        cat(granted.refusal, "; roles and bindings `", secret_role_name, "` and `",
            copied_role_name, "` may stay in other namespaces than `", request.space, "`"));
  }
  found.parts = TRY(installation_objects(whole));
  for (const InstallationObject& part : found.parts)
    if (part.type.kind == "ClusterRoleBinding")
      if (const std::string space =
              other_space(part, TRY(find_object(client, part.type, part.name, stop)));
          !space.empty())
        return user_error(installed_in(space));
  std::ranges::reverse(found.parts);
  // A controller that still runs would make them anew as long as it may.
  for (InstallationObject& part : TRY(injecting_parts(client, found.report, stop)))
    found.parts.push_back(std::move(part));
  // Where no role can be seen, there may be copies all the same.
  if (whole.copies_secrets || !granted.refusal.empty())
    for (InstallationObject& part : TRY(secret_copies(client, found.report, stop)))
      found.parts.push_back(std::move(part));
  TRY(look_for_rights_to_delete(client, found.parts, found.report, stop));
  return found;
}

/// False: it goes no further.
bool add_line(InstallationReport& report, Result<InstallationLine> line) {
  if (line)
    report.objects.push_back(*std::move(line));
  else
    report.failure = std::move(line.error());
  return !report.failure;
}

/// Those of the controller that is there, unless others are asked for.
Status keep_gates(InstallationRequest whole, const std::string& gates,
                  std::vector<InstallationObject>& parts) {
  whole.gates = gates;
  std::vector<InstallationObject> fresh = TRY(installation_objects(whole));
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i].object = std::move(fresh[i].object);
  return {};
}

}  // namespace

Result<InstallationReport> check_installation(Client& client, const InstallationRequest& request,
                                              const std::stop_token& stop) {
  const UpstreamDaemon daemon = TRY(find_upstream_daemon(client, stop));
  const InstallationRequest whole = request_beside(request, daemon);
  const std::vector<InstallationObject> parts = TRY(installation_objects(whole));
  InstallationCheck check(client, whole, parts, daemon, stop);
  TRY(check.run());
  return std::move(check.report);
}

Result<InstallationReport> install(Client& client, const InstallationRequest& request,
                                   const std::stop_token& stop) {
  if (request.image.empty())
    return user_error("which image has fettle? None is published; name yours by `--image`");
  const UpstreamDaemon daemon = TRY(find_upstream_daemon(client, stop));
  const InstallationRequest whole = request_beside(request, daemon);
  std::vector<InstallationObject> parts = TRY(installation_objects(whole));
  InstallationCheck check(client, whole, parts, daemon, stop);
  TRY(check.run());
  InstallationReport report = std::move(check.report);
  if (!report.problems.empty())
    return report;
  if (request.gates.empty() && !request.has_default_gates && !check.gates.empty())
    TRY(keep_gates(whole, check.gates, parts));
  std::erase_if(report.objects, [](const InstallationLine& line) {
    return line.status != "left" && line.status != "omitted";
  });
  for (const auto& [part, version] : check.due)
    if (!add_line(report, apply_part(client, *part, version, stop)))
      break;
  return report;
}

Result<InstallationReport> check_uninstall(Client& client, const InstallationRequest& request,
                                           const std::stop_token& stop) {
  Uninstallation look = TRY(look_before_uninstall(client, request, stop));
  return std::move(look.report);
}

Result<InstallationReport> uninstall(Client& client, const InstallationRequest& request,
                                     const std::stop_token& stop) {
  if (!request.is_exchange && TRY(PutAside::is_there(client, request.space, stop)))
    return user_error(cat("OpenKruise is put aside in `", request.space,
                          "`; `--hand-back` brings it back and removes fettle"));
  Uninstallation look = TRY(look_before_uninstall(client, request, stop));
  InstallationReport& report = look.report;
  if (!report.problems.empty())
    return std::move(report);
  for (const InstallationObject& part : look.parts)
    if (!add_line(report, remove_part(client, part, stop)))
      break;
  return std::move(report);
}

}  // namespace fettle
