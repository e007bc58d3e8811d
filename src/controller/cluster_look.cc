#include "controller/cluster_look.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/orphans.h"
#include "cluster/types.h"
#include "controller/cluster_source.h"

namespace fettle {
namespace {

namespace types = cluster::types;
using kubernetes::ApiReason;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

constexpr int objects_on_page = 500;

/// Those of which a fleet is made, in the order in which they are listed.
const std::vector<ResourceType>& types_of_fleet() {
  static const std::vector<ResourceType> all = [] {
    std::vector<ResourceType> found{types::pods, types::claims, types::revisions};
    found.insert(found.end(), types::workloads.begin(), types::workloads.end());
    found.push_back(types::nodes);
    return found;
  }();
  return all;
}

/// `clonesets.apps.kruise.io`
std::string full_name(const ResourceType& type) {
  return cat(type.plural, type.group.empty() ? "" : ".", type.group);
}

/// What a server says that does not let us read, and what would.
Error refused_read(const kubernetes::ApiError& error, const ResourceType& type,
                   const std::string& space) {
  Error told = error;
  if (error.reason == ApiReason::forbidden)
    told.message +=
        cat("; `kubectl create ",
            type.is_namespaced && !space.empty() ? cat("role fettle-look -n ", space)
                                                 : std::string("clusterrole fettle-look"),
            " --verb=get,list --resource=", full_name(type), "` and a binding of it allow that");
  return told;
}

/// A controller lets workloads take over orphans before it decides anything.
void give_orphans(kubernetes::ObjectCache& objects) {
  cluster::Orphans orphans = cluster::orphans_in(objects);
  for (const ResourceType& type : {types::stateful_sets, types::daemon_sets})
    for (const Value& object : orphans.empty() ? std::vector<Value>() : objects.all(type.kind)) {
      const auto set = cluster::read_workload(object, type);
      if (!set || cluster::meta_of(object).is_leaving)
        continue;
      const cluster::Orphans its = orphans_for(workloads::workload_of(*set), orphans);
      for (const auto& [kind, list] : {std::pair(types::revisions.kind, &its.revisions),
                                       std::pair(types::pods.kind, &its.pods)})
        for (const Value& orphan : *list) {
          const cluster::ObjectMeta meta = cluster::meta_of(orphan);
          objects.listener(kind).put({meta.space.str(), meta.name.str()},
                                     cluster::taken_over(orphan, *set));
        }
      if (!its.empty())
        orphans = cluster::orphans_in(objects);
    }
}

/// Why some workloads are no part of the fleet.
std::vector<std::string> complaints_about(const ClusterReading& reading) {
  std::vector<std::string> found;
  for (const ResourceType& type : types::workloads)
    for (const Value& object : reading.objects.all(type.kind)) {
      const cluster::ObjectMeta meta = cluster::meta_of(object);
      const Name owner = cluster::owner_called({type.kind, {meta.space.str(), meta.name.str()}});
      if (meta.is_leaving || reading.view->fleet.object(owner) != nullptr)
        continue;
      if (const auto workload = cluster::read_workload(object, type); !workload)
        found.push_back(to_string(workload.error()));
    }
  return found;
}

}  // namespace

Result<ResourceType> kept_type(std::string_view kind) {
  const auto type = std::ranges::find(types::workloads, kind, &ResourceType::kind);
  if (type != types::workloads.end())
    return *type;
  return user_error(workloads::workload_sort(kind)
                        ? cat("fettle does not keep the kind ", kind, " in a cluster yet")
                        : cat("a ", kind, " has no rollout"));
}

bool is_right_missing(const kubernetes::ApiError& error) {
  return error.reason == ApiReason::forbidden &&
         (error.server_message.find(" cannot create resource ") != std::string::npos ||
          error.server_message.find(" cannot patch resource ") != std::string::npos);
}

Error refused_write(const kubernetes::ApiError& error, std::string doing) {
  Error told = error;
  switch (error.reason) {
    case ApiReason::bad_request:
    case ApiReason::forbidden:
    case ApiReason::invalid:
    case ApiReason::not_found:
    case ApiReason::too_large:
      told.blame = is_right_missing(error) ? Blame::world : Blame::user;
      break;
    default:
      break;
  }
  return std::move(told).context(std::move(doing));
}

ClusterReading::ClusterReading() : objects(types_of_fleet()) {}

Value ClusterReading::workload(const Name& owner) const {
  const kubernetes::ObjectKey key = cluster::object_of_owner(owner);
  const bool is_kept = std::ranges::any_of(
      types::workloads, [&](const ResourceType& type) { return type.kind == key.kind; });
  return is_kept ? objects.find(key.kind, key.name) : Value();
}

Result<std::vector<Value>> ClusterLook::list(const ResourceType& type, const std::string& space,
                                             const std::string& fields) const {
  std::vector<Value> found;
  kubernetes::ListOptions options;
  options.field_selector = fields;
  options.limit = objects_on_page;
  while (true) {
    auto page = client_.list(type, space, options, stop());
    const bool is_first = options.rest.empty();
    if (!page && page.error().reason == ApiReason::expired && !is_first) {
      // The pages of a long list expire; on one page there is nothing to expire.
      found.clear();
      options.rest.clear();
      options.limit = 0;
      continue;
    }
    if (!page && page.error().reason == ApiReason::not_found)
      return user_error(
          cat("the cluster does not serve `", type.plural, "` of `", type.api_version(), "`"));
    if (!page)
      return refused_read(page.error(), type, space);
    found.insert(found.end(), page->items.begin(), page->items.end());
    if (page->rest.empty())
      return found;
    options.rest = page->rest;
  }
}

Result<Value> ClusterLook::get(const ResourceType& type, const ObjectName& name) const {
  auto found = client_.get(type, name, stop());
  if (found)
    return *std::move(found);
  if (found.error().reason == ApiReason::not_found)
    return user_error(cat("there is no ", type.kind, " `", printable(name.name), "`",
                          type.is_namespaced
                              ? cat(" in the namespace `", printable(name.space), "`")
                              : std::string()));
  return refused_read(found.error(), type, name.space);
}

Result<std::unique_ptr<ClusterReading>> ClusterLook::read(const std::set<std::string>& spaces,
                                                          bool needs_nodes) const {
  auto reading = std::make_unique<ClusterReading>();
  for (const ResourceType& type : types_of_fleet()) {
    const bool is_of_nodes = type == types::nodes;
    if (!is_of_nodes || needs_nodes || !reading->objects.all(types::daemon_sets.kind).empty())
      TRY(fill(*reading, type, spaces));
    reading->objects.listener(type.kind).synced();
  }
  ClusterSource source(place_, {client_, reading->objects, reading->owners}, "cluster",
                       workloads::Gates());
  give_orphans(reading->objects);
  reading->view = TRY(source.learn());
  for (const std::string& complaint : complaints_about(*reading))
    place_.tell(complaint);
  return reading;
}

Status ClusterLook::fill(ClusterReading& reading, const ResourceType& type,
                         const std::set<std::string>& spaces) const {
  static const std::set<std::string> none{""};
  for (const std::string& space : type.is_namespaced ? spaces : none)
    for (const Value& object : TRY(list(type, space))) {
      const cluster::ObjectMeta meta = cluster::meta_of(object);
      reading.objects.listener(type.kind).put({meta.space.str(), meta.name.str()}, object);
    }
  return {};
}

}  // namespace fettle
