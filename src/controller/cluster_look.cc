#include "controller/cluster_look.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/objects.h"
#include "cluster/orphans.h"
#include "cluster/types.h"
#include "controller/cluster_source.h"
#include "kinds/pod.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

namespace types = cluster::types;
using kubernetes::ApiReason;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

constexpr int objects_on_page = 500;

/// Those that stand in the namespace of their workload, in the order in which they are listed.
const std::vector<ResourceType>& types_of_spaces() {
  static const std::vector<ResourceType> all{types::pods,          types::claims,
                                             types::revisions,     types::clone_sets,
                                             types::stateful_sets, types::daemon_sets};
  return all;
}

/// Those of which a fleet is made.
const std::vector<ResourceType>& types_of_fleet() {
  static const std::vector<ResourceType> all = [] {
    std::vector<ResourceType> found{types::pods,   types::claims, types::revisions,
                                    types::spaces, types::nodes,  types::node_images};
    found.insert(found.end(), types::workloads.begin(), types::workloads.end());
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

/// The error of a list.
Error refused_list(const kubernetes::ApiError& error, const ResourceType& type,
                   const std::string& space) {
  if (error.reason == ApiReason::not_found)
    return user_error(
        cat("the cluster does not serve `", type.plural, "` of `", type.api_version(), "`"));
  return refused_read(error, type, space);
}

/// Lists the objects of a fleet.
class FleetLister {
 public:
  FleetLister(const ClusterLook& look, ReadingScope scope, ClusterReading& reading)
      : look_(look), scope_(std::move(scope)), reading_(reading) {
    if (scope_.kinds.contains(types::sidecar_sets.kind))
      scope_.spaces.insert("");
    if (scope_.spaces.contains(""))
      scope_.spaces = {""};
  }

  Status fill() {
    for (const ResourceType& type : types_of_spaces())
      for (const std::string& space : scope_.spaces)
        TRY(keep(look_.ask(type, space), type, space));
    const bool are_sets_needed = scope_.kinds.contains(types::sidecar_sets.kind);
    TRY(fill_group(are_sets_needed, lists_of_sidecars(),
                   {types::sidecar_sets.kind, types::spaces.kind},
                   "what SidecarSets do is not known: pods keep what they have of them, and new "
                   "ones are shown without"));
    const bool are_pulls_needed = scope_.kinds.contains(types::pull_jobs.kind) ||
                                  scope_.kinds.contains(types::list_jobs.kind);
    TRY(fill_group(are_pulls_needed, lists_of_pulls(), kinds_for_pulls(),
                   "nothing is known of images that are pulled ahead"));
    return fill_nodes();
  }

  bool has_all_spaces() const { return scope_.spaces.contains(""); }

 private:
  /// A list to be asked for if those before it have said so.
  struct List {
    ResourceType type;
    std::string space;
    std::function<bool()> is_needed;
  };

  Status keep(const kubernetes::ApiResult<std::vector<Value>>& listed, const ResourceType& type,
              const std::string& space) {
    if (!listed)
      return refused_list(listed.error(), type, space);
    for (const Value& object : *listed) {
      const cluster::ObjectMeta meta = cluster::meta_of(object);
      reading_.objects.listener(type.kind).put({meta.space.str(), meta.name.str()}, object);
    }
    return {};
  }

  std::vector<Value> known(const ResourceType& type) const {
    return reading_.objects.all(type.kind);
  }

  /// Revisions of SidecarSets stand in one namespace, and their selectors may ask for labels of
  /// namespaces.
  std::vector<List> lists_of_sidecars() {
    return {{types::sidecar_sets, "", [] { return true; }},
            {types::revisions, cluster::manager_space.str(),
             [this] { return !has_all_spaces() && !known(types::sidecar_sets).empty(); }},
            {types::spaces, "", [this] {
               return std::ranges::any_of(known(types::sidecar_sets), [](const Value& set) {
                 return !set.at("spec").at("namespaceSelector").is_null();
               });
             }}};
  }

  std::vector<List> lists_of_pulls() {
    std::vector<List> lists;
    for (const ResourceType& type : types::for_pulls)
      for (const std::string& space :
           type.is_namespaced ? scope_.spaces : std::set<std::string>{""})
        lists.push_back({type, space, [] { return true; }});
    lists.push_back({types::nodes, "", [] { return true; }});
    return lists;
  }

  static std::vector<std::string> kinds_for_pulls() {
    std::vector<std::string> kinds;
    for (const ResourceType& type : types::for_pulls)
      kinds.push_back(type.kind);
    return kinds;
  }

  /// Lists that only say something together. If the cluster does not serve one of them there is
  /// nothing to know, and if we may not read one the fleet goes without `kinds`.
  Status fill_group(bool is_needed, const std::vector<List>& lists,
                    const std::vector<std::string>& kinds, std::string_view loss) {
    for (const List& list : lists) {
      if (!list.is_needed())
        continue;
      const auto listed = look_.ask(list.type, list.space);
      const bool may_be_missing = !is_needed && !listed &&
                                  (listed.error().reason == ApiReason::not_found ||
                                   listed.error().reason == ApiReason::forbidden);
      if (!may_be_missing) {
        TRY(keep(listed, list.type, list.space));
        continue;
      }
      for (const std::string& kind : kinds)
        reading_.objects.leave_out(kind);
      if (listed.error().reason == ApiReason::forbidden)
        reading_.warnings.push_back(
            cat(loss, ": ", to_string(refused_list(listed.error(), list.type, list.space))));
      return {};
    }
    return {};
  }

  /// Without nodes, a DaemonSet would look as if it had to remove its pods.
  Status fill_nodes() {
    const bool is_needed = scope_.kinds.contains(types::daemon_sets.kind);
    if ((!is_needed && known(types::daemon_sets).empty()) || !known(types::nodes).empty())
      return {};
    return fill_group(is_needed, {{types::nodes, "", [] { return true; }}},
                      {types::daemon_sets.kind}, "nothing is known of DaemonSets");
  }

  const ClusterLook& look_;
  ReadingScope scope_;
  ClusterReading& reading_;
};

/// The SidecarSets whose newest revision some pods do not have yet. When these get it depends on
/// pods of all namespaces.
std::vector<Name> sidecar_sets_under_way(const workloads::Fleet& fleet, Time now) {
  std::vector<Name> found;
  for (const Name& owner : fleet.sidecar_sets()) {
    const workloads::Workload& set = *fleet.workload(owner);
    const workloads::Rollout rollout(fleet, set, now);
    bool is_any_behind = false;
    fleet.for_each_pod([&](const workloads::FleetPod& pod) {
      const List sidecars = read_one<&Pod::sidecars>(pod.resource->attributes);
      for (const Value& sidecar : sidecars.items())
        is_any_behind |= sidecar.text_at("name") == set.name.view() &&
                         sidecar.text_at("revision") != rollout.update().name.view();
    });
    if (is_any_behind)
      found.push_back(set.name);
  }
  return found;
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
  return user_error(cat("a ", kind, " has no rollout"));
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
  auto found = ask(type, space, fields);
  if (!found)
    return refused_list(found.error(), type, space);
  return *std::move(found);
}

kubernetes::ApiResult<std::vector<Value>> ClusterLook::ask(const ResourceType& type,
                                                           const std::string& space,
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
    if (!page)
      return page.error();
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

Result<std::unique_ptr<ClusterReading>> ClusterLook::read(ReadingScope scope) const {
  auto reading = std::make_unique<ClusterReading>();
  FleetLister lister(*this, std::move(scope), *reading);
  TRY(lister.fill());
  for (const ResourceType& type : types_of_fleet())
    if (reading->objects.follows(type.kind))
      reading->objects.listener(type.kind).synced();
  ClusterSource source(place_, {client_, reading->objects, reading->owners}, "cluster",
                       workloads::Gates());
  give_orphans(reading->objects);
  reading->view = TRY(source.learn());
  workloads::Fleet& fleet = reading->view->fleet;
  fleet.has_all_spaces = lister.has_all_spaces();
  tell_node_images(reading->objects, *reading->view);
  if (!fleet.has_all_spaces)
    for (const Name& set : sidecar_sets_under_way(fleet, place_.clock()))
      reading->warnings.push_back(
          cat("SidecarSet `", set,
              "` updates pods of all namespaces, so it is not known when those that are read here "
              "get their turn"));
  for (const std::string& complaint : complaints_about(*reading))
    place_.tell(complaint);
  return reading;
}

}  // namespace fettle
