#include "kubernetes/resource_type.h"

#include "base/http.h"
#include "base/text.h"

namespace fettle::kubernetes {

std::string to_string(const ObjectName& name) {
  return name.space.empty() ? name.name : cat(name.space, "/", name.name);
}

std::string path_of(const ResourceType& type, const ObjectName& name,
                    std::string_view subresource) {
  std::string path = type.group.empty() ? cat("/api/", type.version)
                                        : cat("/apis/", type.group, "/", type.version);
  if (type.is_namespaced && !name.space.empty())
    path += cat("/namespaces/", percent_encode(name.space));
  path += cat("/", type.plural);
  if (!name.name.empty())
    path += cat("/", percent_encode(name.name));
  if (!subresource.empty())
    path += cat("/", subresource);
  return path;
}

}  // namespace fettle::kubernetes
