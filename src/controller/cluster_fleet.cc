#include "controller/cluster_fleet.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/types.h"
#include "controller/cluster_images.h"
#include "controller/cluster_rollouts.h"
#include "controller/cluster_trial.h"
#include "controller/fleet_wishes.h"
#include "value/with.h"
#include "workloads/decide/status.h"

namespace fettle {
namespace {

namespace types = cluster::types;
using kubernetes::ResourceType;

constexpr size_t most_told_events = 3;

/// The types that people name in `get`, beside those of workloads.
const std::vector<ResourceType>& other_types() {
  static const std::vector<ResourceType> all{types::pods,
                                             types::claims,
                                             {"", "v1", "services", "Service"},
                                             {"", "v1", "configmaps", "ConfigMap"},
                                             types::spaces};
  return all;
}

/// Null: it is no type of those that are shown.
const ResourceType* type_of_kind(std::string_view kind) {
  for (const std::vector<ResourceType>* all : {&types::workloads, &other_types()})
    if (const auto found = std::ranges::find(*all, kind, &ResourceType::kind); found != all->end())
      return &*found;
  return nullptr;
}

/// Asks owners what they want, as a controller would before it tells of them, and no others.
void ask_owners(workloads::Fleet& fleet, const std::set<Name>& owners, Time now) {
  (void)fleet.take_changed();
  FleetWishes wishes(fleet);
  for (const Name& owner : owners)
    wishes.add(owner);
  (void)wishes.ask(now);
}

/// With words for what no status can say by itself.
Value unseen_status(Value status, std::string unseen) {
  return with(status, {{"phase", "progressing"}, {"reason", std::move(unseen)}});
}

}  // namespace

Result<std::vector<Value>> ClusterFleet::documents(const std::string& kind,
                                                   const std::string& space) {
  if (kind == "Secret")
    return user_error("fettle reads no Secrets of a cluster; `kubectl get secrets` does");
  const ResourceType* const type = type_of_kind(kind);
  if (type == nullptr)
    return user_error(cat("fettle shows no ", kind, " of a cluster; `kubectl` does"));
  std::vector<Value> found;
  // Items of a list need not say what they are.
  for (const Value& object : TRY(look_.list(*type, type->is_namespaced ? space : std::string())))
    if (object.is_dict())
      found.push_back(with(object, {{"apiVersion", type->api_version()}, {"kind", type->kind}}));
  return found;
}

Result<Value> ClusterFleet::rollout_status(const Name& owner) {
  const kubernetes::ObjectKey key = cluster::object_of_owner(owner);
  const ResourceType type = TRY(kept_type(key.kind));
  const Value object = TRY(look_.get(type, key.name));
  const std::string unseen = unseen_text(object);
  const Value& status = object.at("status");
  if (unseen.empty() && !status.text_at("phase").empty())
    return status;
  const auto reading = TRY(look_.read({.spaces = {key.name.space}, .kinds = {key.kind}}));
  tell(*reading);
  workloads::Fleet& fleet = reading->view->fleet;
  ask_owners(fleet, {owner}, place_.clock());
  Value decided = workloads::status_of(fleet, owner, place_.clock());
  if (decided.is_null())
    return user_error(cat("`", owner, "` cannot be read, or is being deleted"));
  return unseen.empty() ? decided : unseen_status(std::move(decided), unseen);
}

Result<std::vector<workloads::Object>> ClusterFleet::with_status(const IsMeant& is_meant) {
  reading_ = TRY(look_.read({.spaces = spaces()}));
  tell(*reading_);
  statuses_.clear();
  workloads::Fleet& fleet = reading_->view->fleet;
  std::set<Name> owners;
  for (const auto& [owner, workload] : fleet.workloads())
    if (is_meant(*fleet.object(owner)))
      owners.insert(owner);
  ask_owners(fleet, owners, place_.clock());
  std::vector<workloads::Object> found;
  for (const Name& owner : owners) {
    workloads::Object object = *fleet.object(owner);
    Value& status = statuses_[owner] = is_known(*fleet.object(owner))
                                           ? workloads::status_of(fleet, owner, place_.clock())
                                           : reading_->workload(owner).at("status");
    object.document = with(object.document, "status", status);
    found.push_back(std::move(object));
  }
  return found;
}

/// Its pods are in all namespaces.
bool ClusterFleet::is_known(const workloads::Object& object) const {
  return object.kind != types::sidecar_sets.kind || reading_->view->fleet.has_all_spaces;
}

void ClusterFleet::tell(const ClusterReading& reading) const {
  for (const std::string& warning : reading.warnings)
    place_.tell(cat("warning: ", warning));
}

std::vector<Value> ClusterFleet::pods_of(const Name& owner) const {
  const Name uid = cluster::meta_of(reading_->workload(owner)).uid;
  std::vector<Value> found;
  for (const Value& pod : reading_->objects.all(types::pods.kind))
    if (const auto controller = cluster::meta_of(pod).controller;
        controller && controller->uid == uid)
      found.push_back(pod);
  return found;
}

Result<std::vector<std::string>> ClusterFleet::history(const Name& owner) {
  if (reading_ == nullptr)
    reading_ = TRY(look_.read({.spaces = spaces()}));
  const Value object = reading_->workload(owner);
  std::vector<std::string> lines = pull_lines(statuses_[owner]);
  for (std::string& line : status_lines(object, statuses_[owner].text_at("reason")))
    lines.push_back(std::move(line));
  const kubernetes::ObjectKey key = cluster::object_of_owner(owner);
  // Events about what has no namespace stand in this one.
  const std::string space = key.name.space.empty() ? "default" : key.name.space;
  const auto told = look_.list(kubernetes::types::events, space,
                               cat("involvedObject.uid=", object.at("metadata").text_at("uid")));
  if (!told && is_cancelled(told.error()))
    return told.error();
  if (!told)  // all else is known without them
    lines.push_back(cat("its Events cannot be read: ", to_string(told.error())));
  const auto events = events_in_order(told ? *told : std::vector<Value>());
  for (size_t i = events.size() - std::min(events.size(), most_told_events); i < events.size(); ++i)
    lines.push_back(cat(to_string(events[i].time), " ", events[i].reason, ": ", events[i].text));
  if (std::string last = last_act_on(pods_of(owner)); !last.empty())
    lines.push_back(std::move(last));
  return lines;
}

Result<std::vector<ImageView>> ClusterFleet::images(bool all) {
  if (all)
    return user_error("a cluster says nothing of images that no node was asked for");
  const std::vector<Value> nodes = TRY(look_.list(types::node_images, std::string()));
  std::vector<ImageView> found;
  for (const Value& node : nodes)
    for (ImageView& view : images_asked_of_node(node))
      found.push_back(std::move(view));
  if (nodes.empty())
    place_.tell("there are no NodeImages, so nobody pulls images ahead in this cluster");
  std::ranges::sort(found, [](const ImageView& a, const ImageView& b) {
    return std::tie(a.node, a.image) < std::tie(b.node, b.image);
  });
  return found;
}

Result<std::unique_ptr<FleetView>> ClusterFleet::view_of(const Name& owner) {
  const kubernetes::ObjectKey key = cluster::object_of_owner(owner);
  TRY(kept_type(key.kind));
  return std::move(TRY(look_.read({.spaces = {key.name.space}, .kinds = {key.kind}}))->view);
}

Result<std::vector<StoredObject>> ClusterFleet::change(const Name& owner,
                                                       const ObjectChange& change) {
  return change_in_cluster(look_, owner, change);
}

Result<std::vector<StoredObject>> ClusterFleet::return_to(const Name& owner, const Name& revision,
                                                          const Value&) {
  return return_in_cluster(look_, owner, revision);
}

Result<Trial> ClusterFleet::try_out(std::vector<workloads::Object> objects) {
  return try_in_cluster(look_, spaces(), std::move(objects));
}

Result<std::vector<ClusterEvent>> ClusterFleet::events() const {
  return events_in_order(TRY(look_.list(kubernetes::types::events, space_)));
}

}  // namespace fettle
