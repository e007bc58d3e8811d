#include "controller/cluster_pulls.h"

#include "base/text.h"
#include "cluster/types.h"
#include "controller/rebuilt_record.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

using cluster::JobOfOrder;
using cluster::ObjectMeta;
using kubernetes::ObjectName;
using workloads::Fleet;
using workloads::Object;
namespace types = cluster::types;

ObjectName name_of_job(const ObjectMeta& meta) { return {meta.space.str(), meta.name.str()}; }

/// How far a job is, as its owner remembers it. Nobody counts on one that is not wanted any more,
/// or cannot be read.
JobOfOrder job_of_order(const Fleet& fleet, const Value& object) {
  const ObjectMeta meta = cluster::meta_of(object);
  const ObjectName name = name_of_job(meta);
  JobOfOrder job;
  job.reference = object.at("spec").text_at("image");
  job.owner = cluster::workload_of_job(meta);
  const bool is_of_user = job.owner.empty();
  if (is_of_user)
    job.owner = user_of_job(name);
  const std::map<Name, workloads::Memory>& jobs = fleet.owned(job.owner).jobs;
  const auto found = jobs.find(to_string(name));
  const workloads::Workload* const workload = fleet.workload(job.owner);
  job.is_over =
      found == jobs.end() || workload == nullptr || (!is_of_user && !is_of_rollout(fleet, meta));
  if (!job.is_over) {
    const auto state = read_one<&PullJob::state>(found->second.resource->attributes);
    job.is_over = state && state->completed;
    job.goes_on = workload->pulls.never_completes;
  }
  return job;
}

/// Passes the images that are on a node to the fleet.
void tell_present(Fleet& fleet, const Name& node, const std::set<Name>& present) {
  const workloads::Node* const known = fleet.node(node);
  for (const Name& reference : present)
    if (known != nullptr && !Fleet::has_image(*known, reference))
      fleet.see_image(node, reference, {}, true);
}

cluster::FindJob finder_of_jobs(const kubernetes::ObjectCache& objects, const Fleet& fleet) {
  return [&](const ObjectName& name, std::string_view uid) -> std::optional<JobOfOrder> {
    const Value object = objects.find(types::pull_jobs.kind, name);
    const ObjectMeta meta = cluster::meta_of(object);
    if (object.is_null() || meta.is_leaving || meta.uid.view() != uid)
      return std::nullopt;
    return job_of_order(fleet, object);
  };
}

}  // namespace

bool is_of_rollout(const Fleet& fleet, const ObjectMeta& meta) {
  const Name owner = cluster::workload_of_job(meta);
  const Object* const workload = owner.empty() ? nullptr : fleet.object(owner);
  return workload != nullptr && meta.controller && workload->uid == meta.controller->uid;
}

Key key_of_job(const Name& environment, const ObjectName& name) {
  return {environment, "pull_job", to_string(name)};
}

Name user_of_job(const ObjectName& name) {
  return cat(types::pull_jobs.kind, "/", name.space, "/", name.name);
}

std::vector<RecordPointer> records_of_jobs(const kubernetes::ObjectCache& objects,
                                           const Fleet& fleet) {
  std::vector<RecordPointer> records;
  for (const Value& object : objects.all(types::pull_jobs.kind)) {
    const ObjectMeta meta = cluster::meta_of(object);
    const Name user = user_of_job(name_of_job(meta));
    const bool is_of_user = fleet.object(user) != nullptr;
    if (meta.is_leaving || (!is_of_user && !is_of_rollout(fleet, meta)))
      continue;
    const PullJob job = cluster::read_pull_job(object);
    records.push_back(
        cluster::record_of(job, meta, is_of_user ? user : job.owner, fleet.environment()));
  }
  return records;
}

void tell_node_images(const kubernetes::ObjectCache& objects, FleetView& view) {
  for (const Value& object : objects.all(types::node_images.kind)) {
    const cluster::KnownOrders found =
        cluster::read_orders(object, finder_of_jobs(objects, view.fleet), view.fleet.environment());
    for (const auto& [key, order] : found.orders) {
      view.known[key] = order.record;
      view.fleet.know(key, order.record);
      view.fleet.see_pull(key, order.seen);
    }
    tell_present(view.fleet, cluster::meta_of(object).name, found.present);
  }
}

ClusterPulls::ClusterPulls(const ClusterAccess& access, ClusterEdit& edit, FleetCache& cache,
                           ClusterStatuses& statuses)
    : access_(access),
      edit_(edit),
      cache_(cache),
      statuses_(statuses),
      upkeep_(access.client, access.objects, access.copies) {}

void ClusterPulls::learn() {
  orders_.clear();
  nodes_of_jobs_.clear();
  nodes_.clear();
  jobs_.clear();
  if (!access_.objects.follows(types::node_images.kind))
    return;
  for (const Value& object : access_.objects.all(types::nodes.kind))
    note_node(cluster::meta_of(object).name.str());
  for (const Value& object : access_.objects.all(types::node_images.kind))
    take_node_image({{}, cluster::meta_of(object).name.str()});
  for (const Value& object : access_.objects.all(types::pull_jobs.kind))
    statuses_.note(user_of_job(name_of_job(cluster::meta_of(object))));
}

void ClusterPulls::note_node(const std::string& name) {
  const Value node = access_.objects.find(types::nodes.kind, {{}, name});
  const Digest now = cluster::node_digest(node);
  if (node.is_null())
    nodes_.erase(name);
  else if (std::exchange(nodes_[name], now) == now)
    return;
  upkeep_.note(name);
}

/// One that did not come about has left nothing in the NodeImage.
ObjectName ClusterPulls::note_end(const Key& image) {
  const Name node = on_node(image.name.view()).node;
  orders_[node].keys.insert(image);
  return {{}, node.str()};
}

bool ClusterPulls::is_acted_on(const Key& key) const { return edit_.is_under_way(key); }

void ClusterPulls::take_job(const ObjectName& name) {
  const Key key = key_of_job(edit_.environment(), name);
  const Value object = access_.objects.find(types::pull_jobs.kind, name);
  const ObjectMeta meta = cluster::meta_of(object);
  const Name user = user_of_job(name);
  if (meta.is_leaving)
    upkeep_.release_job(name);
  if (is_acted_on(key))
    return;
  const bool is_of_user = cluster::workload_of_job(meta).empty();
  const bool is_of_fleet =
      !object.is_null() && !meta.is_leaving &&
      (is_of_user ? cache_.fleet().object(user) != nullptr : is_of_rollout(cache_.fleet(), meta));
  const RecordPointer known = cache_.records().find(key);
  const RecordPointer failure = edit_.failure(key);
  if (!is_of_fleet) {
    if (const auto nodes = nodes_of_jobs_.find(name); nodes != nodes_of_jobs_.end())
      for (const Name& node : nodes->second)
        upkeep_.note(node.str());
    jobs_.erase(name);
    statuses_.forget_refusal(user);
    // That it could not be made is all that is known of it.
    if (failure != nullptr && !failure->applied)
      return;
    if (known != nullptr)
      cache_.lose(key);
    if (failure != nullptr)
      edit_.forget(key);
    return;
  }
  statuses_.note(user);
  if (!is_of_user)
    statuses_.note(cluster::workload_of_job(meta));
  if (std::exchange(jobs_[name], meta.uid) != meta.uid)  // orders wait for it
    edit_.failed_acts().forgive_all_of(is_of_user ? user : cluster::workload_of_job(meta),
                                       instant_from_clock());
  if (edit_.forgotten().contains(key))
    return;
  const PullJob job = cluster::read_pull_job(object);
  const RecordPointer record = with_failure(
      cluster::record_of(job, meta, is_of_user ? user : job.owner, edit_.environment()), failure);
  if (known == nullptr || !says_the_same(*known, *record))
    cache_.meet(key, record);
}

void ClusterPulls::take_node_image(const ObjectName& name) {
  upkeep_.note(name.name);
  const Value object = access_.objects.find(types::node_images.kind, name);
  const cluster::KnownOrders now = cluster::read_orders(
      object, finder_of_jobs(access_.objects, cache_.fleet()), edit_.environment());
  const NodeOrders before = std::exchange(orders_[name.name], {});
  NodeOrders kept{{}, now.present, cluster::jobs_in(object)};
  note_jobs(name.name, before.jobs, kept.jobs);
  for (const Key& key : before.keys) {
    const bool is_there = now.orders.contains(key);
    if (is_there || is_acted_on(key))
      kept.keys.insert(key);
    else if (edit_.failure(key) == nullptr)
      forget_order(key, object);
  }
  for (const auto& [key, order] : now.orders) {
    kept.keys.insert(key);
    take_order(key, order);
  }
  take_present(name.name, before.present, now.present);
  if (object.is_null() && kept.keys.empty())
    orders_.erase(name.name);
  else
    orders_[name.name] = std::move(kept);
}

void ClusterPulls::note_jobs(const Name& node, const std::set<ObjectName>& before,
                             const std::set<ObjectName>& now) {
  for (const ObjectName& job : before)
    if (const auto nodes = nodes_of_jobs_.find(job);
        !now.contains(job) && nodes != nodes_of_jobs_.end() && nodes->second.erase(node) > 0 &&
        nodes->second.empty())
      nodes_of_jobs_.erase(nodes);
  for (const ObjectName& job : now)
    nodes_of_jobs_[job].insert(node);
}

/// Whoever wants it is asked again only if others have taken it away. Otherwise its job has ended,
/// or is another one by now.
void ClusterPulls::forget_order(const Key& key, const Value& node_image) {
  const RecordPointer known = cache_.records().find(key);
  if (known == nullptr || cluster::is_ordered(node_image, on_node(key.name.view()).rest)) {
    cache_.put(key, nullptr);
    return;
  }
  // Whoever has taken it away may do so again at once.
  if (known->applied && !known->attempt)
    edit_.failed_acts().fail(key, *known, true, instant_from_clock());
  cache_.lose(key);
}

void ClusterPulls::take_order(const Key& key, const cluster::KnownOrder& order) {
  const Name job = read_one<&Image::job>(order.record->applied->attributes).get();
  statuses_.note(order.owner);
  statuses_.note(cat(types::pull_jobs.kind, "/", job));
  if (is_acted_on(key))
    return;
  const RecordPointer record = with_failure(order.record, edit_.failure(key));
  const RecordPointer known = cache_.records().find(key);
  if (known == nullptr || !says_the_same(*known, *record) ||
      !known->wanted_by.contains(order.owner))
    cache_.put(key, record);
  cache_.fleet().see_pull(key, order.seen);
}

void ClusterPulls::take_present(const Name& node, const std::set<Name>& before,
                                const std::set<Name>& present) {
  for (const Name& reference : before)
    if (!present.contains(reference))
      cache_.fleet().see_image(node, reference, {}, false);
  tell_present(cache_.fleet(), node, present);
}

void ClusterPulls::refresh(Time now) {
  if (!access_.objects.follows(types::node_images.kind))
    return;
  for (const Name& owner : cache_.wishes().take_expired())
    if (const Object* const job = cache_.fleet().object(owner))
      upkeep_.remove_job({job->kind.str(), {job->space.str(), job->name.str()}}, job->uid);
  upkeep_.refresh(finder_of_jobs(access_.objects, cache_.fleet()), now);
}

}  // namespace fettle
