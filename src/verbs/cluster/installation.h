#pragma once
/// What runs fettle's controller in a Kubernetes cluster, as objects and as the text of them: the
/// definitions in `packaging/kubernetes/crds`, and `packaging/kubernetes/install.yaml`. Both are
/// part of the program, as they were when it was built.

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
};

struct InstallationObject {
  kubernetes::ResourceType type;
  kubernetes::ObjectName name;
  Value object;
};

/// In the order in which they are applied. Error (`Blame::user`): the namespace or the image cannot
/// be one.
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

}  // namespace fettle
