#pragma once
/// What of OpenKruise is in a cluster, what of it is in use that fettle does not do, and who keeps
/// its objects. Only looks.

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubernetes/client.h"
#include "verbs/cluster/installation.h"

namespace fettle {

inline constexpr std::string_view upstream_manager_name = "kruise-controller-manager";
/// On a definition of ours that stands in place of OpenKruise's: `new`, and `whole` once its objects
/// are rewritten. On a webhook configuration of OpenKruise: it is on its way back.
inline constexpr std::string_view taken_over_mark = "fettle/taken-over";
inline constexpr std::string_view mark_new = "new", mark_whole = "whole";
/// On the Deployment of OpenKruise's manager while it is stopped: how many it had.
inline constexpr std::string_view replicas_mark = "fettle/replicas";

/// Whether it is one of ours in place of OpenKruise's. Not one that somebody has put back since,
/// with our mark still on it: OpenKruise's definitions ask its manager for conversions.
bool is_taken_over(const Value& definition);

struct UpstreamWebhooks {
  kubernetes::ResourceType type;
  std::string name;
};
/// Both configurations, by name.
std::span<const UpstreamWebhooks> upstream_webhooks();

/// `NAME=BOOL,…` in the arguments of a manager; empty: none are named.
std::string gates_of_manager(const Value& deployment);
/// Where a manager has its lease.
std::string lease_space_of(const Value& deployment);

struct Upstream {
  struct Webhooks {
    kubernetes::ResourceType type;
    Value there;
  };
  struct Definition {
    InstallationObject part;  ///< ours
    Value there;
  };
  Value manager{};  ///< its Deployment; null: there is none
  std::vector<Webhooks> webhooks{};
  std::vector<Definition>
      definitions{};                    ///< of kinds that fettle has, but for those it made itself
  std::vector<std::string> problems{};  ///< rights to look that are missing
  bool is_there() const { return !manager.is_null() || !webhooks.empty() || !definitions.empty(); }
};
Result<Upstream> look_at_upstream(kubernetes::Client& client, const InstallationRequest& request,
                                  const std::stop_token& stop);

/// How OpenKruise is used and kept.
struct UpstreamUse {
  std::vector<std::string> unmatched{};  ///< kinds with objects, and gates, that fettle has not
  std::vector<Value> kept{};             ///< definitions of such kinds that Helm keeps
  std::vector<std::string> advice{};     ///< what to set where, so that nobody brings it back
  std::string gates{};                   ///< that fettle has as well, for its controller
  std::vector<std::string> problems{};
};
Result<UpstreamUse> look_at_use(kubernetes::Client& client, const Upstream& upstream,
                                const std::stop_token& stop);

}  // namespace fettle
