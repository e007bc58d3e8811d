#include "kubernetes/discovery.h"

#include "base/text.h"

namespace fettle::kubernetes {
namespace {

constexpr std::string_view aggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

std::set<std::string> texts_of(const Value& list) {
  std::set<std::string> texts;
  for (const Value& item : items_of(list))
    if (item.is_text())
      texts.emplace(item.text());
  return texts;
}

}  // namespace

void Discovery::add_aggregated(const Value& groups) {
  for (const Value& group : items_of(groups.at("items")))
    for (const Value& version : items_of(group.at("versions")))
      for (const Value& served : items_of(version.at("resources"))) {
        ServedType made{.type = {.group = std::string(group.at("metadata").text_at("name")),
                                 .version = std::string(version.text_at("version")),
                                 .plural = std::string(served.text_at("resource")),
                                 .kind = std::string(served.at("responseKind").text_at("kind")),
                                 .is_namespaced = served.text_at("scope") == "Namespaced"},
                        .verbs = texts_of(served.at("verbs")),
                        .subresources = {}};
        for (const Value& sub : items_of(served.at("subresources")))
          made.subresources.emplace(sub.text_at("subresource"));
        types_.push_back(std::move(made));
      }
}

void Discovery::add_plain(const Value& list, const std::string& group, const std::string& version) {
  std::map<std::string, std::set<std::string>> subresources;
  const size_t first = types_.size();
  for (const Value& served : items_of(list.at("resources"))) {
    const std::string_view name = served.text_at("name");
    if (const size_t slash = name.find('/'); slash != name.npos)
      subresources[std::string(name.substr(0, slash))].emplace(name.substr(slash + 1));
    else
      types_.push_back({.type = {.group = group,
                                 .version = version,
                                 .plural = std::string(name),
                                 .kind = std::string(served.text_at("kind")),
                                 .is_namespaced = served.bool_at("namespaced")},
                        .verbs = texts_of(served.at("verbs")),
                        .subresources = {}});
  }
  for (size_t i = first; i < types_.size(); ++i)
    types_[i].subresources = subresources[types_[i].type.plural];
}

ApiResult<Value> Discovery::ask_for_groups(Client& client, std::string_view path,
                                           std::stop_token stop) {
  return client.call({.path = std::string(path), .accept = std::string(aggregated)},
                     std::move(stop));
}

ApiResult<Discovery> Discovery::ask(Client& client, std::stop_token stop) {
  Discovery found;
  const Value core = TRY(ask_for_groups(client, "/api", stop));
  if (core.text_at("kind") == "APIGroupDiscoveryList") {
    found.add_aggregated(core);
  } else {
    const Value list = TRY(client.call({.path = "/api/v1"}, stop));
    found.add_plain(list, "", "v1");
  }
  const Value groups = TRY(ask_for_groups(client, "/apis", stop));
  if (groups.text_at("kind") == "APIGroupDiscoveryList") {
    found.add_aggregated(groups);
    return found;
  }
  for (const Value& group : items_of(groups.at("groups")))
    for (const Value& version : items_of(group.at("versions"))) {
      const std::string path = cat("/apis/", version.text_at("groupVersion"));
      const ApiResult<Value> list = client.call({.path = path}, stop);
      if (list)
        found.add_plain(*list, std::string(group.text_at("name")),
                        std::string(version.text_at("version")));
      else if (list.error().reason == ApiReason::cancelled ||
               list.error().reason == ApiReason::unreachable)
        return list.error();
    }
  return found;
}

const ServedType* Discovery::find(std::string_view group, std::string_view name) const {
  for (const ServedType& each : types_)
    if (each.type.group == group && (each.type.plural == name || each.type.kind == name))
      return &each;
  return nullptr;
}

const ServedType* Discovery::find(std::string_view group, std::string_view version,
                                  std::string_view name) const {
  for (const ServedType& each : types_)
    if (each.type.group == group && each.type.version == version &&
        (each.type.plural == name || each.type.kind == name))
      return &each;
  return nullptr;
}

}  // namespace fettle::kubernetes
