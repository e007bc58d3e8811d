#pragma once
/// Manifests as kubectl reads them: YAML of several documents, or JSON, and lists of either.
/// Everything is checked, field by field and rule by rule, and has the shape of v1beta1 from here
/// on.
///
/// Known kinds: CloneSet, StatefulSet, DaemonSet, SidecarSet, ImagePullJob and ImageListPullJob of
/// `apps.kruise.io/v1beta1` and `v1alpha1`; Namespace, ConfigMap, Secret and Service of `v1`.
///
/// To add a field: a row in `fields.cc`; a rule: a function in `rules.cc`.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workloads/workload.h"

namespace fettle::workloads {

struct ReadOptions {
  /// The namespace of all objects: those that name another one are errors. Empty: each may be in
  /// its own, and those that name none are in `otherwise`.
  std::string space{};
  bool skip_unknown = false;  ///< unknown kinds are left out
  /// Objects of files that were read before, by owner, and the file of each: they belong together.
  /// Objects that are read now are added. Null: there are none.
  std::map<Name, std::string>* read_before = nullptr;
  std::string otherwise = "default";
  bool keeps_written = false;  ///< objects have their documents as they were written, too
  /// Pods may have any field and word that a server of a cluster, which checks them, may know. Only
  /// what the fields that are known here consist of is checked, and what decisions stand on.
  bool is_of_cluster = false;
};

struct Manifests {
  std::vector<Object> objects;       ///< in their order
  std::vector<Error> errors;         ///< the user's, with places; then there are no objects
  std::vector<std::string> skipped;  ///< `Deployment web`
};

Manifests read_manifests(std::string_view text, std::string_view file, const ReadOptions& options);

/// Changes that a stored object does not allow: its selectors and claim templates must stay.
std::vector<Error> check_change(const Object& before, const Object& after);
/// SidecarSets that may select the same pods must not share a container name.
std::vector<Error> check_beside(const Object& other, const Object& object);

}  // namespace fettle::workloads
