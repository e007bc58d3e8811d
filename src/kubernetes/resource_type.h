#pragma once
/// A type of objects that an API server keeps, and the names of its objects.

#include <string>
#include <string_view>

namespace fettle::kubernetes {

struct ResourceType {
  std::string group{};  ///< empty: the core
  std::string version{};
  std::string plural{};
  std::string kind{};
  bool is_namespaced = true;
  bool operator==(const ResourceType&) const = default;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

struct ObjectName {
  std::string space{};  ///< empty: of no namespace
  std::string name{};
  auto operator<=>(const ObjectName&) const = default;
};
/// `default/web-1`, or the name alone.
std::string to_string(const ObjectName& name);

/// `/apis/apps/v1/namespaces/default/controllerrevisions/a/status`. An empty name: of all in the
/// namespace; an empty namespace: of all.
std::string path_of(const ResourceType& type, const ObjectName& name,
                    std::string_view subresource = {});

/// The types that are used by name here.
namespace types {
inline const ResourceType pods{"", "v1", "pods", "Pod"};
inline const ResourceType nodes{"", "v1", "nodes", "Node", false};
inline const ResourceType events{"", "v1", "events", "Event"};
inline const ResourceType leases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline const ResourceType definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                      "CustomResourceDefinition", false};
}  // namespace types

}  // namespace fettle::kubernetes
