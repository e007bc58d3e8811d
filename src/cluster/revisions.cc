#include "cluster/revisions.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/types.h"
#include "value/json.h"
#include "workloads/names.h"
#include "workloads/pod_defaults.h"
#include "workloads/rollout.h"

namespace fettle::cluster {
namespace {

/// The members of a record that the object has no field for.
Value extra_members(const ControllerRevision& revision) {
  std::vector<Entry> entries{{"collisions", revision.collisions},
                             {"state", revision.state.value()},
                             {"claims_hash", revision.claims_hash}};
  if (!revision.version.empty())
    entries.push_back({"version", revision.version});
  return Value::dict(std::move(entries));
}

Value template_in(const Value& object) {
  const Value& patch = object.at("data").at("spec").at("template");
  if (!patch.is_dict())
    return {};
  std::vector<Entry> entries;
  for (const Entry& entry : patch.entries())
    if (!entry.key.view().starts_with("$"))
      entries.push_back(entry);
  return workloads::without_defaults(Value::dict(std::move(entries)), "Template");
}

bool are_named(const Value& containers) {
  return std::ranges::all_of(items_of(containers),
                             [](const Value& each) { return !each.text_at("name").empty(); });
}

bool has_containers(const Value& spec) {
  return !items_of(spec.at("containers")).empty() && are_named(spec.at("containers"));
}

bool is_of_sidecar_set(const Name& owner) {
  return owner.view().starts_with(cat(types::sidecar_sets.kind, "/"));
}

/// What OpenKruise remembers of the spec of a SidecarSet.
constexpr std::string_view sidecar_set_fields[] = {"containers", "imagePullSecrets",
                                                   "initContainers", "patchPodMetadata", "volumes"};

/// Null: it is none of a SidecarSet.
Value sidecars_in(const Value& object) {
  const Value& spec = object.at("data").at("spec");
  const bool is_set = spec.at("containers").is_list() || spec.at("initContainers").is_list();
  if (!is_set || !are_named(spec.at("containers")) || !are_named(spec.at("initContainers")))
    return {};
  return workloads::sidecar_set_template(spec);
}

Value patch_of_template(const Value& pod_template) {
  std::vector<Entry> patch(pod_template.entries().begin(), pod_template.entries().end());
  patch.push_back({"$patch", "replace"});
  return Value::dict({{"spec", Value::dict({{"template", Value::dict(std::move(patch))}})}});
}

/// `spec`: of a SidecarSet. OpenKruise writes null for what it does not have.
Value patch_of_set(const Value& spec) {
  std::vector<Entry> entries{{"$patch", "replace"}};
  for (const std::string_view field : sidecar_set_fields)
    entries.push_back({field, spec.at(field)});
  return Value::dict({{"spec", Value::dict(std::move(entries))}});
}

Value revision_of_set(const ControllerRevision& revision, const workloads::Object& owner,
                      const Value& stored) {
  const bool is_stored =
      stored.is_dict() && workloads::sidecar_set_template(stored) == revision.pod_template.value();
  const Value& spec = is_stored ? stored : revision.pod_template.at("spec");
  std::vector<Entry> labels{{workloads::label::job_revision, revision.hash},
                            {sidecar_set_label, owner.name}};
  if (!revision.version.empty())
    labels.push_back({workloads::label::custom_version, revision.version});
  return Value::dict(
      {{"apiVersion", "apps/v1"},
       {"kind", "ControllerRevision"},
       {"metadata",
        Value::dict({{"name", revision.name},
                     {"namespace", manager_space},
                     {"labels", Value::dict(std::move(labels))},
                     {"annotations",
                      Value::dict({{annotation::revision, write_json(extra_members(revision))}})},
                     {"ownerReferences", Value::list({owner_reference(owner)})}})},
       {"data", patch_of_set(spec)},
       {"revision", revision.number}});
}

}  // namespace

kubernetes::ObjectName object_of_revision(const Name& space, const Name& name) {
  return {space.empty() ? manager_space.str() : space.str(), name.str()};
}

Result<ControllerRevision> read_revision(const Value& object, const Name& owner_uid) {
  const ObjectMeta meta = meta_of(object);
  const std::string name = cat("ControllerRevision `", meta.space, "/", meta.name, "`");
  const bool is_of_set = is_of_sidecar_set(meta.owner());
  const Value pod_template = is_of_set ? sidecars_in(object) : template_in(object);
  if (is_of_set && pod_template.is_null())
    return world_error(cat(name, " has no `data.spec.containers` of a SidecarSet"));
  if (!pod_template.at("spec").is_dict())
    return world_error(cat(name, " has no `data.spec.template.spec`, a PodSpec"));
  TRY(check_owner(meta, owner_uid, "ControllerRevision"));
  if (!is_of_set && !has_containers(pod_template.at("spec")))
    return world_error(cat(name, " has a template without containers"));
  const Value extra = json_annotation(object, annotation::revision);
  const Value& labels = object.at("metadata").at("labels");
  const std::string_view hash = labels.text_at(workloads::label::job_revision);
  ControllerRevision revision;
  revision.name = meta.name;
  if (!is_of_set)
    revision.space = meta.space;
  revision.owner = meta.owner();
  revision.hash = hash.empty() ? workloads::hash_of_revision(meta.name) : hash;
  revision.number = object.integer_at("revision");
  revision.pod_template = pod_template;
  revision.claims_hash = extra.text_at(
      "claims_hash", object.at("metadata").at("annotations").text_at(annotation::claims_hash));
  revision.collisions = extra.integer_at("collisions");
  revision.version = extra.text_at("version", labels.text_at(workloads::label::custom_version));
  revision.state = extra.at("state").is_dict() ? extra.at("state") : Value::dict({});
  return revision;
}

Value revision_object(const ControllerRevision& revision, const workloads::Object& owner,
                      const Value& stored) {
  if (is_of_sidecar_set(revision.owner))
    return revision_of_set(revision, owner, stored);
  const bool is_stored = stored.is_dict() && workloads::without_defaults(stored, "Template") ==
                                                 revision.pod_template.value();
  const Value& pod_template = is_stored ? stored : revision.pod_template.value();
  std::vector<Entry> labels;
  const Value& of_pods = pod_template.at("metadata").at("labels");
  if (of_pods.is_dict())
    labels.assign(of_pods.entries().begin(), of_pods.entries().end());
  labels.push_back({workloads::label::job_revision, revision.hash});
  return Value::dict(
      {{"apiVersion", "apps/v1"},
       {"kind", "ControllerRevision"},
       {"metadata",
        Value::dict({{"name", revision.name},
                     {"namespace", revision.space},
                     {"labels", Value::dict(std::move(labels))},
                     {"annotations",
                      Value::dict({{annotation::revision, write_json(extra_members(revision))}})},
                     {"ownerReferences", Value::list({owner_reference(owner)})}})},
       {"data", patch_of_template(pod_template)},
       {"revision", revision.number}});
}

Value revision_change(const ControllerRevision& revision, const ObjectMeta& meta) {
  return Value::dict(
      {{"metadata",
        Value::dict({{"uid", meta.uid},
                     {"resourceVersion", meta.version},
                     {"annotations", Value::dict({{annotation::revision,
                                                   write_json(extra_members(revision))}})}})},
       {"revision", revision.number}});
}

Value words_of_revision(const Value& object) {
  const Value& spec = object.at("data").at("spec");
  if (!is_of_sidecar_set(meta_of(object).owner())) {
    if (!spec.at("template").is_dict())
      return {};
    return Value::dict(
        {{"template", workloads::edited(spec.at("template"), {{"$patch", Value()}})}});
  }
  std::vector<Entry> entries;
  for (const std::string_view field : sidecar_set_fields)
    if (!spec.at(field).is_null())
      entries.push_back({field, spec.at(field)});
  return entries.empty() ? Value() : Value::dict(std::move(entries));
}

Value revision_in_words(const Value& object, const Value& spec) {
  const Value& before = object.at("metadata");
  std::vector<Entry> metadata;
  for (const char* const key : {"name", "namespace", "labels", "annotations", "ownerReferences"})
    if (before.find(key) != nullptr)
      metadata.push_back({key, before.at(key)});
  return Value::dict({{"apiVersion", types::revisions.api_version()},
                      {"kind", types::revisions.kind},
                      {"metadata", Value::dict(std::move(metadata))},
                      {"data", is_of_sidecar_set(meta_of(object).owner())
                                   ? patch_of_set(spec)
                                   : patch_of_template(spec.at("template"))},
                      {"revision", object.at("revision")}});
}

bool has_data_of(const Value& object, std::string_view manager) {
  return std::ranges::any_of(items_of(object.at("metadata").at("managedFields")),
                             [&](const Value& entry) {
                               return entry.text_at("manager") == manager &&
                                      entry.at("fieldsV1").find("f:data") != nullptr;
                             });
}

void take_current(std::vector<ControllerRevision>& revisions, const Value& status) {
  const std::string_view current = status.text_at("currentRevision");
  const auto newest = std::ranges::max_element(revisions, {}, &ControllerRevision::number);
  if (current.empty() || newest == revisions.end())
    return;
  std::vector<Entry> entries(newest->state.entries().begin(), newest->state.entries().end());
  entries.push_back({"current", current});
  newest->state = Value::dict(std::move(entries));
}

const ControllerRevision* revision_of_label(const std::vector<ControllerRevision>& revisions,
                                            std::string_view text) {
  const auto found = std::ranges::find_if(revisions, [&](const ControllerRevision& each) {
    return !text.empty() && (each.name == text || each.hash == text);
  });
  return found == revisions.end() ? nullptr : &*found;
}

RecordPointer record_of(const ControllerRevision& revision, const Name& environment) {
  auto record = std::make_shared<Record>();
  Resource resource;
  resource.key = {environment, "revision", cat(revision.space, "/", revision.name)};
  resource.attributes = write(revision);
  record->incarnation = 1;
  record->changes = 1;
  record->wanted_by[revision.owner] = resource.attributes.digest();
  record->applied = std::move(resource);
  return record;
}

}  // namespace fettle::cluster
