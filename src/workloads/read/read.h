#pragma once
/// Manifests as kubectl reads them: YAML of several documents, or JSON, and lists of either. What
/// is read is checked, field by field and rule by rule, and stands in the shape of v1beta1 from
/// here on.
///
/// Known kinds: CloneSet, StatefulSet, DaemonSet, SidecarSet and ImagePullJob of
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
  std::string space;          ///< the namespace of what names none; empty: `default`
  bool skip_unknown = false;  ///< kinds that are not known are left out
  /// Objects of files that were read before, by owner, and in which file each is: they go together.
  /// What is read is added. Null: there are none.
  std::map<Name, std::string>* read_before = nullptr;
};

struct Manifests {
  std::vector<Object> objects;       ///< in their order
  std::vector<Error> errors;         ///< of the user, with places; objects are none then
  std::vector<std::string> skipped;  ///< `Deployment web`
};

Manifests read_manifests(std::string_view text, std::string_view file, const ReadOptions& options);

/// What a stored object cannot become: selectors and claim templates stay.
std::vector<Error> check_change(const Object& before, const Object& after);
/// SidecarSets that may select the same pods have no container name in common.
std::vector<Error> check_beside(const Object& other, const Object& object);

}  // namespace fettle::workloads
