#include "cluster/claims.h"

#include "base/text.h"
#include "cluster/names.h"
#include "core/key.h"
#include "kinds/pod.h"
#include "value/json.h"

namespace fettle::cluster {
namespace {

/// The garbage collector deletes it with its owner. A CloneSet's claims always go. `before`: the
/// references that it has.
Value owners_of(const VolumeClaim& claim, const workloads::Object& owner, const Value& before) {
  std::vector<Value> references;
  for (const Value& each : items_of(before))
    if (each.text_at("uid") != owner.uid.view())
      references.push_back(each);
  const bool stays = claim.retain.get() && owner.kind != "CloneSet";
  if (!stays)
    references.push_back(owner_reference(owner));
  return references.empty() ? Value() : Value::list(std::move(references));
}

Value annotations_of(const VolumeClaim& claim) {
  return Value::dict({{annotation::claim, write_json(write(claim))}});
}

/// Whether users could not have written this annotation by mistake, nor about another namespace.
bool is_own(const Value& told, const ObjectMeta& meta) {
  const std::vector<std::string_view> owner = split(told.text_at("owner"), '/');
  return told.is_dict() && told.text_at("name") == meta.name.view() &&
         told.text_at("namespace") == meta.space.view() && owner.size() == 3 &&
         owner[1] == meta.space.view() &&
         (told.find("labels") == nullptr || told.at("labels").is_dict()) &&
         (told.find("spec") == nullptr || told.at("spec").is_dict());
}

}  // namespace

Value claim_object(const VolumeClaim& claim, const workloads::Object& owner) {
  std::vector<Entry> labels(claim.labels.entries().begin(), claim.labels.entries().end());
  const Value& selected = owner.document.at("spec").at("selector").at("matchLabels");
  if (selected.is_dict())
    for (const Entry& entry : selected.entries())
      if (claim.labels.at(entry.key).is_null())
        labels.push_back(entry);
  std::vector<Entry> metadata{{"name", claim.name.value()},
                              {"namespace", claim.space.value()},
                              {"labels", Value::dict(std::move(labels))},
                              {"annotations", annotations_of(claim)}};
  if (Value owners = owners_of(claim, owner, {}); !owners.is_null())
    metadata.push_back({"ownerReferences", std::move(owners)});
  return Value::dict({{"apiVersion", "v1"},
                      {"kind", "PersistentVolumeClaim"},
                      {"metadata", Value::dict(std::move(metadata))},
                      {"spec", claim.spec.value()}});
}

Value claim_change(const VolumeClaim& claim, const workloads::Object& owner, const Value& object) {
  const ObjectMeta meta = meta_of(object);
  const Value& before = object.at("metadata").at("ownerReferences");
  return Value::dict(
      {{"metadata", Value::dict({{"uid", meta.uid},
                                 {"resourceVersion", meta.version},
                                 {"annotations", annotations_of(claim)},
                                 {"ownerReferences", owners_of(claim, owner, before)}})}});
}

std::optional<VolumeClaim> read_claim(const Value& object) {
  const ObjectMeta meta = meta_of(object);
  const Value told = json_annotation(object, annotation::claim);
  VolumeClaim claim;
  claim.name = meta.name;
  claim.space = meta.space;
  if (is_own(told, meta)) {
    claim.owner = Name(told.text_at("owner"));
    if (const Value* const labels = told.find("labels"))
      claim.labels = *labels;
    if (const Value* const spec = told.find("spec"))
      claim.spec = *spec;
    claim.retain = told.bool_at("retain");
    return claim;
  }
  if (meta.owner().empty())
    return std::nullopt;
  claim.owner = meta.owner();
  claim.labels = object.at("metadata").at("labels");
  claim.spec = object.at("spec");
  claim.retain = false;
  return claim;
}

RecordPointer record_of(const VolumeClaim& claim, const ObjectMeta& meta, const Name& environment) {
  auto record = std::make_shared<Record>();
  Resource resource;
  resource.key = {environment, "claim", node_name_of("", claim.space.view(), claim.name.view())};
  resource.driver = driver_name;
  resource.attributes = write(claim);
  record->incarnation = 1;
  record->changes = 1;
  record->remote_id = meta.uid.str();
  record->wanted_by[claim.owner.get()] = resource.attributes.digest();
  record->applied = std::move(resource);
  return record;
}

}  // namespace fettle::cluster
