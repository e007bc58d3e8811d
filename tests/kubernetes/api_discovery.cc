#include <map>

#include "tests/kubernetes/api_server.h"
#include "value/json.h"

namespace fettle::kubernetes {

ApiAnswer ApiServer::discover(const std::vector<std::string>& steps, bool is_aggregated) const {
  const bool is_core = steps[0] == "api";
  // Group, then version, then types.
  std::map<std::string, std::map<std::string, std::vector<const TypeRules*>>> groups;
  for (const TypeRules& each : types_)
    if (each.type.group.empty() == is_core)
      groups[each.type.group][each.type.version].push_back(&each);
  const auto subresources = [](const TypeRules& each) {
    std::vector<std::string> names;
    if (each.has_status)
      names.emplace_back("status");
    if (!each.scale.is_null())
      names.emplace_back("scale");
    for (const char* more : {"binding", "eviction"})
      if (each.type.plural == "pods")
        names.emplace_back(more);
    return names;
  };
  const Value verbs =
      *read_json(R"(["create","delete","deletecollection","get","list","patch","update","watch"])");
  if (steps.size() == (is_core ? 2u : 3u)) {
    std::vector<Value> rows;
    for (const TypeRules* each : groups[is_core ? "" : steps[1]][steps.back()]) {
      const auto add = [&](const std::string& name) {
        rows.push_back(Value::dict({{"name", name},
                                    {"singularName", each->singular},
                                    {"namespaced", each->type.is_namespaced},
                                    {"kind", each->type.kind},
                                    {"verbs", verbs}}));
      };
      add(each->type.plural);
      for (const std::string& sub : subresources(*each))
        add(each->type.plural + "/" + sub);
    }
    if (rows.empty())
      return refusal(404, "NotFound", "the server could not find the requested resource");
    return {.body = Value::dict({{"kind", "APIResourceList"}, {"resources", Value::list(rows)}})};
  }
  std::vector<Value> aggregated, plain;
  for (const auto& [group, versions] : groups) {
    std::vector<Value> in_full, names;
    for (const auto& [version, types] : versions) {
      std::vector<Value> rows;
      for (const TypeRules* each : types) {
        std::vector<Value> subs;
        for (const std::string& sub : subresources(*each))
          subs.push_back(Value::dict({{"subresource", sub}}));
        rows.push_back(Value::dict({{"resource", each->type.plural},
                                    {"responseKind", Value::dict({{"kind", each->type.kind}})},
                                    {"scope", each->type.is_namespaced ? "Namespaced" : "Cluster"},
                                    {"verbs", verbs},
                                    {"subresources", Value::list(std::move(subs))}}));
      }
      in_full.push_back(Value::dict({{"version", version}, {"resources", Value::list(rows)}}));
      names.push_back(Value::dict({{"version", version}, {"groupVersion", group + "/" + version}}));
    }
    aggregated.push_back(Value::dict({{"metadata", Value::dict({{"name", group}})},
                                      {"versions", Value::list(std::move(in_full))}}));
    plain.push_back(Value::dict({{"name", group}, {"versions", Value::list(std::move(names))}}));
  }
  if (is_aggregated && has_aggregated_discovery)
    return {.body = Value::dict({{"kind", "APIGroupDiscoveryList"},
                                 {"items", Value::list(std::move(aggregated))}})};
  if (is_core)
    return {.body = Value::dict({{"kind", "APIVersions"}, {"versions", Value::list({"v1"})}})};
  return {.body =
              Value::dict({{"kind", "APIGroupList"}, {"groups", Value::list(std::move(plain))}})};
}

}  // namespace fettle::kubernetes
