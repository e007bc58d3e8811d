#include "cluster/others.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/types.h"
#include "kinds/pod.h"
#include "workloads/names.h"
#include "workloads/pods/sidecar_parts.h"

namespace fettle::cluster {
namespace {

const Name unknown_injected = "unknown";  ///< in place of the name of a revision

std::string_view list_of_sets(const Value& object) {
  return object.at("metadata").at("annotations").text_at(annotation::sidecar_list);
}

/// Each once. Whoever makes a pod writes the list, which may be long.
std::vector<Name> sets_in_list(const Value& object) {
  std::vector<Name> sets;
  std::set<std::string_view> known;
  for (const std::string_view name : split(list_of_sets(object), ','))
    if (!name.empty() && known.insert(name).second)
      sets.emplace_back(name);
  return sets;
}

/// Null: the pod has no such container.
const Value& container_of_pod(const Value& object, std::string_view name) {
  static const Value none;
  for (const Value& each : items_of(object.at("spec").at("containers")))
    if (each.text_at("name") == name)
      return each;
  return none;
}

/// What OpenKruise says of a SidecarSet on a pod. Its hash alone, as a text, is the form of its
/// first versions.
struct InjectionNote {
  Name hash, revision;
};

/// `notes`: on all sets.
InjectionNote injection_note(const Value& notes, std::string_view set) {
  const Value& note = notes.at(set);
  return {note.is_text() ? note.text() : Name(note.text_at("hash")),
          note.text_at("controllerRevision")};
}

/// The revision that a SidecarSet has as its spec is now. Null: it is not stored yet.
const ControllerRevision* present_revision(const Owner& set) {
  const Value now = workloads::sidecar_set_template(set.object.document.at("spec"));
  const auto found = std::ranges::find_if(set.revisions, [&](const ControllerRevision& revision) {
    return revision.pod_template.value() == now;
  });
  return found == set.revisions.end() ? nullptr : &*found;
}

/// Reads what OpenKruise has put into a pod for a SidecarSet.
class InjectedPart {
 public:
  InjectedPart(const Owner& set, const Value& object)
      : set_(set),
        object_(object),
        known_working_(json_annotation(object, workloads::annotation::working)) {}

  /// Null: a container of the set is missing.
  Value read() {
    for (const Value& container : items_of(set_.object.document.at("spec").at("containers"))) {
      const Value& strategy = container.at("upgradeStrategy");
      const bool is_added = strategy.text_at("upgradeType") == "HotUpgrade"
                                ? add_pair(container, strategy.at("hotUpgradeEmptyImage"))
                                : add(container.text_at("name"), container.at("image"));
      if (!is_added)
        return {};
    }
    std::vector<Entry> entries{{"name", set_.object.name}, {"revision", revision()}};
    entries.push_back({"last", last()});
    for (auto& [key, dict] :
         {std::pair("annotations", &annotations_), {"working", &working_}, {"leaving", &leaving_}})
      entries.push_back({key, dict_or_null(std::move(*dict))});
    std::erase_if(entries, [](const Entry& entry) { return entry.value.is_null(); });
    entries.push_back({"containers", Value::list(std::move(containers_))});
    return Value::dict(std::move(entries));
  }

 private:
  /// `image`: as the set has it. False: the pod has no such container.
  bool add(std::string_view name, const Value& image) {
    const Value& found = container_of_pod(object_, name);
    if (found.is_null())
      return false;
    is_as_in_set_ &= found.at("image") == image;
    containers_.push_back(Value::dict({{"name", name}, {"image", found.at("image")}}));
    return true;
  }

  bool add_pair(const Value& container, const Value& empty_image) {
    const std::string_view name = container.text_at("name");
    const Name first = cat(name, "-1"), second = cat(name, "-2");
    const std::string_view works = known_working_.text_at(name);
    if ((works != first.view() && works != second.view()) || !empty_image.is_text())
      return false;
    for (const Name& one : {first, second}) {
      const bool is_idle = one != works;
      const Value& image = container_of_pod(object_, one.view()).at("image");
      if (!add(one.view(), is_idle ? image : container.at("image")))
        return false;
      if (is_idle && image != empty_image)
        leaving_.push_back({one, empty_image});
      for (const Name& key : {workloads::version_key(one), workloads::other_version_key(one)})
        if (const Value& version = object_.at("metadata").at("annotations").at(key);
            version.is_text())
          annotations_.push_back({key, version});
    }
    working_.push_back({name, works});
    return true;
  }

  /// The note may name the one before, since a webhook is faster than a status.
  Name revision() const {
    const InjectionNote note =
        injection_note(json_annotation(object_, annotation::sidecar_hash), set_.object.name.view());
    const std::string_view hash =
        set_.object.document.at("metadata").at("annotations").text_at(annotation::sidecar_hash);
    const ControllerRevision* const present = present_revision(set_);
    const bool is_present =
        present != nullptr && is_as_in_set_ && !hash.empty() && note.hash == hash;
    return is_present ? present->name : note.revision.empty() ? unknown_injected : note.revision;
  }

  /// What the containers were before their last update. Null: there was none.
  Value last() const {
    const Value states = json_annotation(object_, annotation::sidecar_state);
    const Value& statuses = states.at(set_.object.name).at("lastContainerStatuses");
    std::vector<Entry> entries;
    for (const Value& container : containers_)
      if (const Value& id = statuses.at(container.text_at("name")).at("imageID"); id.is_text())
        entries.push_back({container.at("name").text(), Value::dict({{"image_id", id}})});
    return dict_or_null(std::move(entries));
  }

  const Owner& set_;
  const Value& object_;
  const Value known_working_;
  bool is_as_in_set_ = true;  ///< its images
  std::vector<Value> containers_;
  std::vector<Entry> annotations_, working_, leaving_;
};

bool has_all_containers(const Value& object, const Value& part) {
  return std::ranges::all_of(items_of(part.at("containers")), [&](const Value& container) {
    return !container_of_pod(object, container.text_at("name")).is_null();
  });
}

/// All that SidecarSets have put into a pod. Null: none of these is kept.
Value parts_of(const Value& object, const Owners& owners) {
  std::vector<Value> parts;
  std::set<Name> ours;
  bool is_any_kept = false;
  const auto set_of = [&](std::string_view name) {
    return owners.find(owner_called({types::sidecar_sets.kind, {{}, std::string(name)}}));
  };
  const Value read = read_sidecars(object);
  const Value notes = json_annotation(object, annotation::sidecar_hash);
  for (const Value& part : items_of(read)) {
    const Name name = part.text_at("name");
    const Name noted = injection_note(notes, name.view()).revision;
    const auto set = set_of(name.view());
    const bool is_as_written =
        has_all_containers(object, part) && (noted.empty() || noted == part.text_at("revision"));
    if (set != nullptr && !is_as_written)
      continue;  // OpenKruise has changed it since
    is_any_kept |= set != nullptr;
    ours.insert(name);
    parts.push_back(part);
  }
  for (const Name& name : sets_in_list(object)) {
    const auto set = ours.contains(name) ? nullptr : set_of(name.view());
    Value part = set == nullptr ? Value() : InjectedPart(*set, object).read();
    if (part.is_null())
      continue;
    is_any_kept = true;
    parts.push_back(std::move(part));
  }
  return is_any_kept ? Value::list(std::move(parts)) : Value();
}

/// A template with what selectors and readers of a pod ask for. Null: all its containers are
/// sidecars.
Value lean_template(const Value& object, const Value& parts) {
  std::set<Name> sidecars;
  for (const Value& part : items_of(parts))
    for (const Value& container : items_of(part.at("containers")))
      sidecars.insert(container.text_at("name"));
  std::vector<Value> own;
  for (const Value& container : items_of(object.at("spec").at("containers")))
    if (!sidecars.contains(container.text_at("name")))
      own.push_back(
          Value::dict({{"name", container.at("name")}, {"image", container.at("image")}}));
  if (own.empty())
    return {};
  return Value::dict({{"metadata", Value::dict({{"labels", object.at("metadata").at("labels")}})},
                      {"spec", Value::dict({{"containers", Value::list(std::move(own))}})}});
}

bool has_ended(const Value& object) {
  const std::string_view phase = object.at("status").text_at("phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

bool is_pod_of_others(const ObjectMeta& meta) {
  if (meta.owner().empty())
    return true;
  const Name& kind = meta.controller->kind;
  return kind != types::clone_sets.kind && kind != types::stateful_sets.kind &&
         kind != types::daemon_sets.kind;
}

bool has_sidecars_of(const Value& object, std::string_view set) {
  const std::vector<std::string_view> sets = split(list_of_sets(object), ',');
  return !set.empty() && std::ranges::find(sets, set) != sets.end();
}

std::optional<ClusterPod> read_pod_of_others(const Value& object, const OthersContext& context) {
  const ObjectMeta meta = meta_of(object);
  if (meta.uid.empty() || meta.is_leaving || has_ended(object) || !is_pod_of_others(meta) ||
      sets_in_list(object).empty())
    return std::nullopt;
  Pod pod;
  const Value parts = parts_of(object, context.owners);
  const Value pod_template = lean_template(object, parts);
  if (parts.is_null() || pod_template.is_null())
    return std::nullopt;
  pod.name = meta.name;
  pod.space = meta.space;
  pod.uid = meta.uid;
  pod.owner = workloads::owner_of_others(meta.space.view());
  pod.pod_template = pod_template;
  pod.sidecars = parts;
  pod.state = Value::dict({{"made", meta.created.time_since_epoch().count()}});
  ClusterPod found;
  found.key = {context.environment, "pod",
               workloads::key_name_of_others(meta.space.view(), meta.name.view())};
  found.node = object.at("spec").text_at("nodeName");
  found.state = State(object.at("status"));
  Resource resource;
  resource.key = found.key;
  resource.driver = context.driver;
  resource.leftover = Leftover::forget;
  resource.attributes = write(pod);
  auto record = std::make_shared<Record>();
  record->incarnation = 1;
  record->remote_id = meta.uid.str();
  record->finished = meta.created;
  record->wanted_by[pod.owner.get()] = resource.attributes.digest();
  PodOutputs outputs;
  outputs.uid = meta.uid;
  outputs.ip = object.at("status").text_at("podIP");
  record->outputs = Outputs(write(outputs));
  record->applied = std::move(resource);
  found.record = std::move(record);
  return found;
}

PodWrite write_of_others(const Attributes& known, const Attributes& wanted, const Value& object,
                         Time now, const HashesBySidecarSet& hashes) {
  std::vector<Entry> annotations = changed_entries(pod_annotations(known), pod_annotations(wanted));
  const List before = read_one<&Pod::sidecars>(known), after = read_one<&Pod::sidecars>(wanted);
  for (Entry& entry : sidecar_annotations(before.value(), after.value(), object, hashes, now))
    annotations.push_back(std::move(entry));
  // A server refuses another order of containers than that of the pod.
  std::vector<Value> containers;
  for (const Value& container : items_of(object.at("spec").at("containers"))) {
    const std::string_view name = container.text_at("name");
    const std::string_view image = pod_image(wanted, name);
    if (!image.empty() && image != pod_image(known, name))
      containers.push_back(Value::dict({{"name", name}, {"image", image}}));
  }
  const ObjectMeta meta = meta_of(object);
  std::vector<Entry> metadata{{"uid", meta.uid}, {"resourceVersion", meta.version}};
  if (!annotations.empty())
    metadata.push_back({"annotations", Value::dict(std::move(annotations))});
  std::vector<Entry> change{{"metadata", Value::dict(std::move(metadata))}};
  if (!containers.empty())
    change.push_back({"spec", Value::dict({{"containers", Value::list(std::move(containers))}})});
  return {"", Value::dict(std::move(change))};
}

}  // namespace fettle::cluster
