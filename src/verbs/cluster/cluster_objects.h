#pragma once
/// What the commands about an installation ask of objects of a cluster: whose one is, and what one
/// may do with it.

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/wait.h"
#include "cluster/types.h"
#include "kubernetes/client.h"
#include "verbs/cluster/install.h"

namespace fettle {

namespace cluster_types {
inline const kubernetes::ResourceType config_maps{"", "v1", "configmaps", "ConfigMap"};
inline const kubernetes::ResourceType daemon_sets{"apps", "v1", "daemonsets", "DaemonSet"};
inline const kubernetes::ResourceType deployments{"apps", "v1", "deployments", "Deployment"};
inline const kubernetes::ResourceType mutating_webhooks{"admissionregistration.k8s.io", "v1",
                                                        "mutatingwebhookconfigurations",
                                                        "MutatingWebhookConfiguration", false};
inline const kubernetes::ResourceType validating_webhooks{"admissionregistration.k8s.io", "v1",
                                                          "validatingwebhookconfigurations",
                                                          "ValidatingWebhookConfiguration", false};
}  // namespace cluster_types

bool is_definition(const InstallationObject& part);
bool has_installation_label(const Value& object);
/// Its deletion was asked for.
bool is_going(const Value& object);
std::string_view annotation_of(const Value& object, std::string_view key);

/// The program that keeps an object as it wants it, as `Helm's release `a/b``; empty: none is known.
std::string keeper_of(const Value& object);
bool is_kept_by_helm(const Value& object);

/// `CloneSet `shop/web``
std::string shown_object(const kubernetes::ResourceType& type, const kubernetes::ObjectName& name);
kubernetes::ObjectName name_of(const Value& object);
InstallationLine line_of(const kubernetes::ResourceType& type, const kubernetes::ObjectName& name,
                         std::string status, std::string why = {});

/// Null: it is not there.
Result<Value> find_object(kubernetes::Client& client, const kubernetes::ResourceType& type,
                          const kubernetes::ObjectName& name, const std::stop_token& stop);
/// Whether whoever asks has a right. An empty namespace: in all, or the type has none.
Result<bool> is_allowed(kubernetes::Client& client, const std::string& verb,
                        const kubernetes::ResourceType& type, const std::string& space,
                        const std::stop_token& stop);
/// `clonesets.apps.kruise.io`
std::string full_plural(const kubernetes::ResourceType& type);

/// A part of an installation by server-side apply. `is_dry_run`: the server only says what it would.
kubernetes::ApiResult<Value> send_part(kubernetes::Client& client, const InstallationObject& part,
                                       bool is_dry_run, const std::stop_token& stop);

/// Asks again and again until something is so. Error: it is not so after the limit; `what` says
/// what was waited for.
Status await_so(const ClusterPatience& patience, std::string_view what,
                const std::function<Result<bool>()>& is_so, const std::stop_token& stop);

}  // namespace fettle
