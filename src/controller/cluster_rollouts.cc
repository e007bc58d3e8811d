#include "controller/cluster_rollouts.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/owners.h"
#include "cluster/revisions.h"
#include "cluster/types.h"
#include "value/with.h"

namespace fettle {
namespace {

namespace types = cluster::types;
using kubernetes::ObjectKey;
using kubernetes::PatchType;
using kubernetes::ResourceType;

/// A workload that is to be changed.
struct LiveWorkload {
  ObjectKey key;
  ResourceType type;    ///< in the version in which its spec was written
  ResourceType stored;  ///< in the version in which it was read
  Value object;
};

Result<LiveWorkload> workload_to_change(const ClusterLook& look, const Name& owner) {
  LiveWorkload found{
      .key = cluster::object_of_owner(owner), .type = {}, .stored = {}, .object = {}};
  found.stored = TRY(kept_type(found.key.kind));
  found.object = TRY(look.get(found.stored, found.key.name));
  if (cluster::meta_of(found.object).is_leaving)
    return user_error(cat("`", owner, "` is being deleted"));
  found.type = found.stored;
  const std::string version = cluster::version_of_spec(found.object, found.stored);
  found.type.version = version.substr(version.find('/') + 1);
  return found;
}

/// What a CloneSet of v1beta1 has below `rollingUpdate`, one of v1alpha1 has beside it.
Value change_in_version(const Value& change, const ResourceType& type) {
  const Value& strategy = change.at("updateStrategy");
  const Value& rolling = strategy.at("rollingUpdate");
  if (type.kind != types::clone_sets.kind || type.version != "v1alpha1" || !rolling.is_dict())
    return change;
  std::vector<Entry> entries;
  for (const Value* dict : {&strategy, &rolling})
    for (const Entry& entry : dict->entries())
      if (entry.key != "rollingUpdate")
        entries.push_back(entry);
  return with(change, "updateStrategy", Value::dict(std::move(entries)));
}

Result<std::vector<StoredObject>> written_change(const ClusterLook& look, const Name& owner,
                                                 const LiveWorkload& live, PatchType how,
                                                 const Value& change) {
  const auto answer = look.client().patch(live.type, live.key.name, how, change, {}, look.stop());
  if (!answer)
    return refused_write(answer.error(), cat("changing `", owner, "` in the cluster"));
  return std::vector<StoredObject>{{.owner = owner, .fate = StoredObject::Fate::configured}};
}

/// `spec`: what the revision remembers of it, null for what it did not have.
Result<std::vector<StoredObject>> return_of_sidecars(const ClusterLook& look, const Name& owner,
                                                     const LiveWorkload& live, const Value& spec) {
  if (!spec.at("containers").is_list() && !spec.at("initContainers").is_list())
    return world_error(cat("the revision of `", owner, "` has no containers"));
  std::vector<Entry> fields;
  for (const Entry& entry : spec.entries())
    if (entry.key != "$patch")
      fields.push_back(entry);
  return written_change(
      look, owner, live, PatchType::merge,
      Value::dict({{"metadata", Value::dict({{"uid", live.object.at("metadata").at("uid")}})},
                   {"spec", Value::dict(std::move(fields))}}));
}

}  // namespace

Result<std::vector<StoredObject>> change_in_cluster(const ClusterLook& look, const Name& owner,
                                                    const ObjectChange& change) {
  const LiveWorkload live = TRY(workload_to_change(look, owner));
  const workloads::Object before = TRY(cluster::read_workload(live.object, live.stored));
  const workloads::Object after = TRY(change(before));
  const Value differs =
      cluster::patch_between(before.document.at("spec"), after.document.at("spec"));
  if (differs.is_null())
    return std::vector<StoredObject>{{.owner = owner, .fate = StoredObject::Fate::unchanged}};
  // Another one of this name is not meant.
  return written_change(look, owner, live, PatchType::merge,
                        Value::dict({{"metadata", Value::dict({{"uid", before.uid}})},
                                     {"spec", change_in_version(differs, live.type)}}));
}

Result<std::vector<StoredObject>> return_in_cluster(const ClusterLook& look, const Name& owner,
                                                    const Name& revision) {
  const LiveWorkload live = TRY(workload_to_change(look, owner));
  const Value stored =
      TRY(look.get(types::revisions, cluster::object_of_revision(live.key.name.space, revision)));
  if (live.key.kind == types::sidecar_sets.kind)
    return return_of_sidecars(look, owner, live, stored.at("data").at("spec"));
  const Value& data = stored.at("data").at("spec").at("template");
  if (!data.is_dict())
    return world_error(cat("revision `", revision, "` of `", owner, "` has no template"));
  std::vector<Entry> pod_template;
  for (const Entry& entry : data.entries())
    if (entry.key != "$patch")
      pod_template.push_back(entry);
  return written_change(
      look, owner, live, PatchType::json,
      Value::list({Value::dict({{"op", "test"},
                                {"path", "/metadata/uid"},
                                {"value", live.object.at("metadata").at("uid")}}),
                   Value::dict({{"op", "replace"},
                                {"path", "/spec/template"},
                                {"value", Value::dict(std::move(pod_template))}})}));
}

}  // namespace fettle
