#pragma once
/// The part of an object of a cluster that is the same for all types: its metadata.

#include <optional>

#include "base/result.h"
#include "workloads/workload.h"

namespace fettle::cluster {

/// The owner that manages an object (`controller: true`).
struct OwnerReference {
  Name api_version, kind, name, uid;
};

struct ObjectMeta {
  Name space, name, uid;
  Name version;             ///< `resourceVersion`
  Time created;             ///< 0: nobody said
  bool is_leaving = false;  ///< its deletion was asked for
  std::optional<OwnerReference> controller;
  /// `CloneSet/NAMESPACE/NAME`, `SidecarSet//NAME`; empty: nobody manages it, or a kind of another
  /// group. Those of Kubernetes itself have the same names: StatefulSet, DaemonSet. What a SidecarSet
  /// manages stands in the namespace of OpenKruise's manager; a reference to it elsewhere may be
  /// anybody's.
  Name owner() const;
};

ObjectMeta meta_of(const Value& object);

/// Error (`Blame::world`): no workload manages the object, or one with another UID, which was
/// removed and may have been made anew. `uid` may be empty: it is not known. `what`: `pod`.
Status check_owner(const ObjectMeta& meta, const Name& uid, std::string_view what);

/// The entry of `ownerReferences` for an object that is stored in the cluster.
Value owner_reference(const workloads::Object& owner);

/// The moment of a field; 0: there is none.
Time moment_at(const Value& dict, std::string_view key);

/// The JSON of an annotation. Null: there is none, or somebody broke it.
Value json_annotation(const Value& object, std::string_view key);

/// The row of a type among the conditions of a status. Null: there is none.
const Value& condition_of(const Value& conditions, std::string_view type);

/// The entries that lead from one dict to another; null where one goes away.
std::vector<Entry> changed_entries(const Value& before, const Value& after);

/// The merge patch that leads from one dict to another (RFC 7386): lists are replaced as a whole, and
/// null takes a field away. Null: they are alike.
Value patch_between(const Value& before, const Value& after);

/// Null: there are no entries.
Value dict_or_null(std::vector<Entry> entries);

}  // namespace fettle::cluster
