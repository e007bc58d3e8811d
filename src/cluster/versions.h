#pragma once
/// The two versions in which people write a workload, `v1alpha1` and `v1beta1`, and the way from one
/// to the other, as OpenKruise's conversion goes it.
///
/// A server with a conversion stores one version and shows both. One that converts nothing shows
/// under either version what was written, so there the text itself has to be that of whoever writes
/// it: otherwise the next `kubectl apply` of an unchanged manifest adds the fields of one version to
/// those of the other. When definitions are exchanged, objects are rewritten by these functions.
///
/// Which version an object has is told by fields that only one of them has; a CloneSet whose claims
/// are reused in the one and deleted in the other by default must never be guessed wrong. So what is
/// written here always has such a field.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubernetes/resource_type.h"
#include "value/value.h"

namespace fettle::cluster {

inline constexpr std::string_view version_alpha = "v1alpha1", version_beta = "v1beta1";

/// The version whose fields an object has. `otherwise`: there are none, or of both.
std::string version_of_fields(const Value& object, const kubernetes::ResourceType& type,
                              std::string_view otherwise);

/// The version in which the owner of an object writes it: of what `kubectl apply` has remembered, of
/// server-side apply, else in which its spec was written last.
std::string version_of_owner(const Value& object, const kubernetes::ResourceType& type);

/// The same workload with the fields of another version. `from`: the version whose fields it has.
Value in_version(const Value& object, const kubernetes::ResourceType& type, std::string_view from,
                 std::string_view to);

/// An object to be put in place of one that is stored.
struct VersionedObject {
  kubernetes::ResourceType type;  ///< by which it is written
  Value object;
};

/// For a server that converts nothing from now on. `stored`: the version in which objects were
/// stored until now. None: it is as it has to be.
std::optional<VersionedObject> rewritten_for_owner(const Value& object,
                                                   const kubernetes::ResourceType& type,
                                                   std::string_view stored);

/// For a server that stores one version and converts from now on. None: it has its fields.
std::optional<VersionedObject> rewritten_for_storage(const Value& object,
                                                     const kubernetes::ResourceType& type,
                                                     std::string_view stored);

/// OpenKruise compares a template with that of the newest revision byte by byte, and takes a manifest
/// without the defaults that its webhook writes for another one. The workload with the template as
/// it stands in that revision, if both say the same. `revisions`: ControllerRevisions, also of others.
/// None: it has that template, or says something else. Not for SidecarSets.
std::optional<Value> with_revised_template(const Value& object,
                                           const kubernetes::ResourceType& type,
                                           const std::vector<Value>& revisions);

/// OpenKruise's webhook writes a default into a field that it lets nobody change, and then refuses
/// the write because of that: an object that lacks it, as a plain manifest put in its place does,
/// could not be written any more. The object with it. None: it lacks nothing.
std::optional<Value> with_fixed_defaults(const Value& object, const kubernetes::ResourceType& type);

}  // namespace fettle::cluster
