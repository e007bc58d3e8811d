#pragma once
/// What runs fettle's controller and the daemons of nodes in a Kubernetes cluster, as objects and as
/// the text of them: the definitions in `packaging/kubernetes/crds`, `install.yaml` beside them, and
/// `pull_secrets.yaml` for each namespace that is asked for; where OpenKruise's daemon pulls also
/// `copied_secrets.yaml` for each of them, and `secret_copies.yaml`. They are part of the program, as they
/// were when it was built.

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubernetes/resource_type.h"
#include "value/value.h"

namespace fettle {

struct InstallationRequest {
  std::string space = "kruise-system";
  std::string image{};  ///< with the program; empty: `fettle:VERSION`, which a text may have
  std::string version{};
  std::set<std::string> secret_spaces{};  ///< namespaces whose Secrets the daemons may read
  bool copies_secrets = false;            ///< for OpenKruise's daemon, by the controller
  /// Of the controller: `NAME=BOOL,…`. Empty: those of the one that is installed, if any.
  std::string gates{};
  bool has_default_gates = false;  ///< those of the one that is installed go as well
  /// It is a part of an exchange with OpenKruise (`take_over.h`), which stops its manager and puts
  /// its definitions aside, or brings them back.
  bool is_exchange = false;
};

struct InstallationObject {
  kubernetes::ResourceType type;
  kubernetes::ObjectName name;
  Value object;
};

/// In the order in which they are applied. Error (`Blame::user`): a namespace, the image or a gate
/// cannot be one.
Result<std::vector<InstallationObject>> installation_objects(const InstallationRequest& request);
/// The same as YAML, with the reason of each right.
Result<std::string> installation_text(const InstallationRequest& request);

/// A file below `packaging/kubernetes`, or a part of it that is followed by the next one.
struct InstallationPiece {
  std::string_view file;
  std::string_view text;
};
std::span<const InstallationPiece> installation_pieces();

/// Every object of an installation has this label.
inline constexpr std::string_view installation_label = "app.kubernetes.io/name";
inline constexpr std::string_view installation_name = "fettle";
/// The role, and its binding, by which daemons read Secrets in a namespace.
inline constexpr std::string_view secret_role_name = "fettle-pull-secrets";
/// The same for the controller, where it copies Secrets.
inline constexpr std::string_view copied_role_name = "fettle-copied-secrets";
/// By which it writes the copies.
inline constexpr std::string_view copies_role_name = "fettle-secret-copies";
/// Whether an object is there for the daemons of nodes alone.
bool is_of_daemons(const InstallationObject& part);

}  // namespace fettle
