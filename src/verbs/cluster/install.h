#pragma once
/// Installs fettle's controller and the daemons of nodes in a Kubernetes cluster, and takes them away.
///
/// A cluster is shared, and what is applied there without a look takes from others what is theirs:
/// OpenKruise's definitions have other schemas than ours, a Helm release would be changed behind
/// Helm's back, and the namespace of a manager may hold more than the manager. So all is looked at
/// first, and nothing is written while there is a problem.
///
/// * Ours is what has our label and no other owner. Definitions and a namespace of others stay as
///   they are; any other object of others that has one of our names is a problem.
/// * Fields that others own are never taken: the server refuses, and it is said whose they are. It
///   is asked without any effect first, so this is a problem like others.
/// * No definition is ever deleted, for all objects of users go with it.
/// * Two daemons on a node would pull the same and overwrite what the other one tells. So where
///   OpenKruise's are, ours are omitted, with all that is there for them. That is no problem, since
///   either daemon does what either manager orders.
/// * What puts sidecars into pods of others was made by a controller, and works without one. It goes
///   with the installation, after the rights by which a controller could make it anew.
/// * A right to read Secrets outlives the installation that gave it, until it is taken away by hand
///   or with everything. A later installation that does not ask for it says so: whoever only wants a
///   newer image would break pulls otherwise.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/wait.h"
#include "kubernetes/client.h"
#include "verbs/cluster/installation.h"

namespace fettle {

/// An object, and what has become or would become of it.
struct InstallationLine {
  std::string kind;
  std::string space;  ///< empty: of no namespace
  std::string name;
  /// `missing` or `there` by a look; `created`, `configured`, `unchanged`; `deleted`, `absent`;
  /// `left`: it is not ours, or a definition; `omitted`: it is not there, and not made here.
  /// Of an exchange: `to put aside`, `to stop`, `to rewrite`, `to mark` by a look; `put aside`,
  /// `stopped`, `rewritten`, `marked`, `replaced`; `restored`, `started`.
  std::string status;
  std::string why;  ///< it was left or omitted; else empty
};

struct InstallationReport {
  std::vector<InstallationLine> objects;
  std::vector<std::string> warnings;
  std::vector<std::string> problems;  ///< nothing was written if there are any
  std::optional<Error> failure{};     ///< what broke off the writing; the objects are those before
};

/// How a command waits for what others in the cluster do.
struct ClusterPatience {
  Duration interval = 1s;  ///< between two looks
  Duration limit = 3min;
  std::function<Status(Duration, const std::stop_token&)> pause = pause_for;
  std::function<Instant()> clock = instant_from_clock;
};

/// Only looks. Error: the server does not answer, or not whoever asks.
Result<InstallationReport> check_installation(kubernetes::Client& client,
                                              const InstallationRequest& request,
                                              const std::stop_token& stop);
Result<InstallationReport> install(kubernetes::Client& client, const InstallationRequest& request,
                                   const std::stop_token& stop);
/// Only looks: whether all that is to go may be deleted.
Result<InstallationReport> check_uninstall(kubernetes::Client& client,
                                           const InstallationRequest& request,
                                           const std::stop_token& stop);
Result<InstallationReport> uninstall(kubernetes::Client& client, const InstallationRequest& request,
                                     const std::stop_token& stop);

}  // namespace fettle
