#include "cluster/owners.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/revisions.h"
#include "cluster/types.h"
#include "value/json.h"
#include "value/with.h"
#include "workloads/pod_defaults.h"
#include "workloads/read/read.h"

namespace fettle::cluster {
namespace {

/// What is remembered of a job is no wish.
Value without_own(const Value& found) {
  if (found.find(annotation::job) == nullptr)
    return found;
  std::vector<Entry> entries;
  for (const Entry& entry : found.entries())
    if (entry.key != annotation::job)
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

/// Only what a user may write; the rest is a server's.
Result<workloads::Object> read_as(const Value& object, const kubernetes::ResourceType& type,
                                  const std::string& version) {
  std::vector<Entry> metadata;
  for (const char* key : {"name", "namespace", "labels", "annotations"})
    if (const Value* const found = object.at("metadata").find(key))
      metadata.push_back({key, without_own(*found)});
  // Items of a list need not say what they are.
  const Value document = Value::dict({{"apiVersion", version},
                                      {"kind", type.kind},
                                      {"metadata", Value::dict(std::move(metadata))},
                                      {"spec", object.at("spec")}});
  const ObjectMeta meta = meta_of(object);
  const kubernetes::ObjectName at{meta.space.str(), meta.name.str()};
  const std::string name = cat(type.kind, " `", to_string(at), "` in the cluster");
  workloads::Manifests read =
      workloads::read_manifests(write_json(document), name, {.is_of_cluster = true});
  if (!read.errors.empty())  // whose place would be one in a text that nobody wrote
    return user_error(cat(name, ": ", read.errors.front().message));
  if (read.objects.size() != 1)
    return user_error(cat(name, " is no workload"));
  workloads::Object found = std::move(read.objects.front());
  found.uid = meta.uid;
  found.generation = object.at("metadata").integer_at("generation", 1);
  found.created = meta.created;
  return found;
}

const Value& container_called(const Value& containers, std::string_view name) {
  static const Value none;
  for (const Value& each : items_of(containers))
    if (each.text_at("name") == name)
      return each;
  return none;
}

Value with_policies(const Value& containers, const Value& known) {
  std::vector<Value> made;
  for (const Value& each : items_of(containers)) {
    const Value& policy = container_called(known, each.text_at("name")).at("imagePullPolicy");
    const bool is_said = each.find("imagePullPolicy") != nullptr || policy.is_null();
    made.push_back(is_said ? each : with(each, "imagePullPolicy", policy));
  }
  return Value::list(std::move(made));
}

/// What a workload has for pods, as revisions have it. `spec`: of the workload.
Value template_of(const Value& spec, bool is_sidecar_set) {
  return is_sidecar_set ? workloads::sidecar_set_template(spec)
                        : workloads::without_defaults(spec.at("template"), "Template");
}

}  // namespace

std::string version_of_spec(const Value& object, const kubernetes::ResourceType& type) {
  std::string found = type.api_version();
  std::string_view last;
  for (const Value& entry : items_of(object.at("metadata").at("managedFields"))) {
    const std::string_view version = entry.text_at("apiVersion"), time = entry.text_at("time");
    if (entry.at("fieldsV1").find("f:spec") == nullptr || entry.find("subresource") != nullptr ||
        !version.starts_with(cat(type.group, "/")) || time < last)
      continue;
    found = version;
    last = time;
  }
  return found;
}

workloads::Object with_known_policies(workloads::Object object,
                                      const std::vector<ControllerRevision>& revisions) {
  const auto newest = std::ranges::max_element(revisions, {}, &ControllerRevision::number);
  const bool is_set = object.kind == types::sidecar_sets.kind;
  const Value& spec = object.document.at("spec");
  const Value& of_pods = is_set ? spec : spec.at("template").at("spec");
  if (newest == revisions.end() || !of_pods.is_dict())
    return object;
  Value changed = of_pods;
  for (const char* key : {"containers", "initContainers"})
    if (of_pods.at(key).is_list())
      changed = with(changed, key,
                     with_policies(of_pods.at(key), newest->pod_template.at("spec").at(key)));
  if (changed == of_pods)
    return object;
  if (!is_set)
    changed = with(spec, "template", with(spec.at("template"), "spec", std::move(changed)));
  // What is said may be a former revision, which is exactly that.
  const Value plain = template_of(spec, is_set);
  const bool is_newest = template_of(changed, is_set) == newest->pod_template.value();
  const bool is_former = std::ranges::any_of(revisions, [&](const ControllerRevision& each) {
    return each.pod_template.value() == plain;
  });
  if (is_newest || !is_former)
    object.document = with(object.document, "spec", std::move(changed));
  return object;
}

Result<workloads::Object> read_workload(const Value& object, const kubernetes::ResourceType& type) {
  const std::string version = version_of_spec(object, type);
  Result<workloads::Object> found = read_as(object, type, version);
  if (found)
    return found;
  // Somebody may have written a part of it, such as a label, in another version.
  const bool is_own = version == type.api_version();
  Result<workloads::Object> other =
      read_as(object, type, is_own ? cat(type.group, "/v1alpha1") : type.api_version());
  return other ? std::move(other) : std::move(found);
}

/// A server counts the changes of a spec.
Digest digest_of_manifest(const Value& object, const kubernetes::ResourceType& type) {
  const Value& metadata = object.at("metadata");
  const Name rest = cat(metadata.text_at("uid"), " ", metadata.integer_at("generation"), " ",
                        version_of_spec(object, type));
  return combine(rest.digest(), {metadata.at("labels").digest().low,
                                 without_own(metadata.at("annotations")).digest().low});
}

Name owner_called(const kubernetes::ObjectKey& key) {
  return cat(key.kind, "/", key.name.space, "/", key.name.name);
}

kubernetes::ObjectKey object_of_owner(const Name& owner) {
  const std::vector<std::string_view> parts = split(owner.view(), '/');
  if (parts.size() != 3)
    return {};
  return {std::string(parts[0]), {std::string(parts[1]), std::string(parts[2])}};
}

std::shared_ptr<const Owner> Owners::find(const Name& owner) const {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  return found == owners_.end() ? nullptr : found->second;
}

namespace {

/// The template of a revision of a SidecarSet, which may have been written in this run and not been
/// read since. Null: it is not known.
Value template_of_revision(const Owner& set, const Name& name,
                           const kubernetes::ObjectCache* objects) {
  const auto known = std::ranges::find(set.revisions, name, &ControllerRevision::name);
  if (known != set.revisions.end())
    return known->pod_template.value();
  if (objects == nullptr)
    return {};
  const auto written = read_revision(
      objects->find(types::revisions.kind, object_of_revision({}, name)), set.object.uid);
  return written ? written->pod_template.value() : Value();
}

}  // namespace

/// A hash is of the spec as it is now, so it is none of another revision.
HashesBySidecarSet Owners::hashes_for(const Value& sidecars,
                                      const kubernetes::ObjectCache* objects) const {
  HashesBySidecarSet found;
  for (const Value& sidecar : items_of(sidecars)) {
    const Name name = sidecar.text_at("name");
    const auto set = find(owner_called({types::sidecar_sets.kind, {{}, name.str()}}));
    if (set == nullptr)
      continue;
    const Value& document = set->object.document;
    const Value& annotations = document.at("metadata").at("annotations");
    const SidecarSetHashes hashes{annotations.text_at(annotation::sidecar_hash),
                                  annotations.text_at(annotation::sidecar_hash_without_image)};
    if (!hashes.all.empty() && template_of_revision(*set, sidecar.text_at("revision"), objects) ==
                                   workloads::sidecar_set_template(document.at("spec")))
      found[name] = hashes;
  }
  return found;
}

bool Owners::may_have_hashes(const Value& sidecars, const kubernetes::ObjectCache& objects) const {
  return std::ranges::all_of(items_of(sidecars), [&](const Value& sidecar) {
    const Name name = sidecar.text_at("name");
    const auto set = find(owner_called({types::sidecar_sets.kind, {{}, name.str()}}));
    if (set == nullptr)
      return true;
    const Value& annotations = set->object.document.at("metadata").at("annotations");
    return annotations.text_at(annotation::sidecar_hash).empty() ||
           !template_of_revision(*set, sidecar.text_at("revision"), &objects).is_null();
  });
}

void Owners::put(workloads::Object object) {
  const Name name = object.owner();
  auto owner = std::make_shared<Owner>();
  owner->marks_not_ready = workloads::workload_of(object).hooks.mark_not_ready();
  owner->object = std::move(object);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Owner>& kept = owners_[name];
  if (kept != nullptr)
    owner->revisions = kept->revisions;
  kept = std::move(owner);
}

void Owners::drop(const Name& owner) {
  const std::lock_guard lock(mutex_);
  owners_.erase(owner);
}

void Owners::clear() {
  const std::lock_guard lock(mutex_);
  owners_.clear();
}

void Owners::put(ControllerRevision revision) {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(revision.owner);
  if (found == owners_.end())
    return;
  auto owner = std::make_shared<Owner>(*found->second);
  std::erase_if(owner->revisions,
                [&](const ControllerRevision& each) { return each.name == revision.name; });
  owner->revisions.push_back(std::move(revision));
  found->second = std::move(owner);
}

void Owners::drop_revision(const Name& owner_name, const Name& name) {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner_name);
  if (found == owners_.end())
    return;
  auto owner = std::make_shared<Owner>(*found->second);
  std::erase_if(owner->revisions,
                [&](const ControllerRevision& each) { return each.name == name; });
  found->second = std::move(owner);
}

}  // namespace fettle::cluster
