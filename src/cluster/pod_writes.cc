#include "cluster/pod_writes.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/daemon_pods.h"
#include "cluster/names.h"
#include "cluster/update_state.h"
#include "kinds/pod.h"
#include "value/json.h"
#include "workloads/names.h"

namespace fettle::cluster {
namespace {

namespace condition = workloads::condition;
namespace label = workloads::label;
namespace status = workloads::status;

bool is_of_stage(std::string_view key) {
  return key == label::lifecycle_state || key == workloads::annotation::lifecycle_timestamp;
}

bool is_of_revision(std::string_view key) {
  return key == label::revision || key == label::template_hash;
}

void keep_if(std::vector<Entry>& entries, const auto& keeps) {
  std::erase_if(entries, [&](const Entry& entry) { return !keeps(entry.key); });
}

Value condition_row(const Name& type, const Name& is, Time now, std::string_view reason) {
  return Value::dict({{"type", type},
                      {"status", is},
                      {"lastTransitionTime", write_moment(now)},
                      {"reason", reason}});
}

/// Containers with members that are merged into those of the same name. A server puts containers
/// into the order of a patch, and refuses another one than that of the pod, which is `names`.
Value containers_with(const Value& by_container, std::string_view member,
                      const std::vector<Name>& names) {
  std::vector<Value> containers;
  for (const Entry& entry : by_container.entries())
    containers.push_back(Value::dict({{"name", entry.key}, {member, entry.value}}));
  std::ranges::stable_sort(containers, {}, [&](const Value& container) {
    return std::ranges::find(names, Name(container.text_at("name"))) - names.begin();
  });
  return Value::dict({{"containers", Value::list(std::move(containers))}});
}

void add_dict(std::vector<Entry>& to, const char* key, std::vector<Entry> entries) {
  if (!entries.empty())
    to.push_back({key, Value::dict(std::move(entries))});
}

Value added(const Value& list, const std::vector<Value>& more, std::string_view key) {
  std::vector<Value> items;
  for (const Value& item : items_of(list))
    if (std::ranges::none_of(more, [&](const Value& each) { return each.at(key) == item.at(key); }))
      items.push_back(item);
  items.insert(items.end(), more.begin(), more.end());
  return Value::list(std::move(items));
}

/// The items of a list that the other one lacks.
std::vector<Value> those_without(const Value& list, const Value& others) {
  std::vector<Value> found;
  for (const Value& each : items_of(list))
    if (std::ranges::find(items_of(others), each) == items_of(others).end())
      found.push_back(each);
  return found;
}

bool has_all(const Value& amounts, const Value& wanted) {
  return !wanted.is_dict() || std::ranges::all_of(wanted.entries(), [&](const Entry& entry) {
    return entry.value.is_dict() ? has_all(amounts.at(entry.key), entry.value)
                                 : amounts.at(entry.key) == entry.value;
  });
}

/// A resize leaves no trace but the resources themselves, so those say whether it has been written.
NextStep step_on(const Value& object, NextStep step) {
  if (step.resources.is_null())
    return step;
  std::vector<Entry> missing(step.resources.entries().begin(), step.resources.entries().end());
  for (const Value& container : items_of(object.at("spec").at("containers")))
    std::erase_if(missing, [&](const Entry& entry) {
      return entry.key == container.text_at("name") &&
             has_all(container.at("resources"), entry.value);
    });
  step.resources = dict_or_null(std::move(missing));
  return step;
}

/// With what its sidecars add.
Value whole_template(const Pod& pod) {
  return template_with_sidecars(pod.pod_template.value(), pod.sidecars.value());
}

std::vector<Name> names_of_containers(const Value& object) {
  std::vector<Name> names;
  for (const Value& container : items_of(object.at("spec").at("containers")))
    names.emplace_back(container.text_at("name"));
  return names;
}

/// How a pod gets from one state to another, and in which order that is written.
class PodDifference {
 public:
  PodDifference(const Attributes& known, const Attributes& wanted, const Value& object,
                const std::vector<ControllerRevision>& revisions, Time now,
                const HashesBySidecarSet& hashes)
      : was_(read<Pod>(known)),
        is_(read<Pod>(wanted)),
        meta_(meta_of(object)),
        containers_(names_of_containers(object)),
        update_before_(memory_of_pod(known).update),
        update_(memory_of_pod(wanted).update),
        labels_(changed_entries(pod_labels(known), pod_labels(wanted))),
        annotations_(changed_entries(pod_annotations(known), pod_annotations(wanted))),
        step_(step_on(object, step_between(whole_template(was_), whole_template(is_)))),
        now_(now) {
    drains_ = update_.bool_at("grace");
    const bool drained = update_before_.bool_at("grace");
    begins_ = !update_.is_null() && update_before_.is_null();
    if (drains_)
      std::erase_if(labels_, [](const Entry& entry) { return is_of_revision(entry.key); });
    // What the pod is to be called was withheld until now.
    const Value all_labels = pod_labels(wanted);
    if (drained && !drains_ && !update_.is_null())
      for (const Entry& entry : all_labels.entries())
        if (is_of_revision(entry.key))
          labels_.push_back(entry);
    if (drained && !drains_)
      annotations_.push_back({annotation::update_grace, Value()});
    for (Entry& entry :
         sidecar_annotations(was_.sidecars.value(), is_.sidecars.value(), object, hashes, now))
      annotations_.push_back(std::move(entry));
    find_state(revisions);
    find_conditions();
  }

  std::vector<PodWrite> writes() {
    const bool closes = std::ranges::any_of(
        conditions_, [](const Entry& each) { return each.value == status::no; });
    if (closes)
      write_status();
    if (!step_.resources.is_null())
      add("resize", {{"spec", containers_with(step_.resources, "resources", containers_)}});
    write_pod(!closes && !conditions_.empty());
    if (!closes && !conditions_.empty())
      write_status();
    return std::move(writes_);
  }

 private:
  void find_state(const std::vector<ControllerRevision>& revisions) {
    if (update_.is_null() || update_ == update_before_)
      return;
    const ControllerRevision* const target = revision_of_label(revisions, is_.revision.view());
    const Value& name = is_.labels.at(label::revision);
    UpdateState state{.revision = name.is_text() ? name.text() : is_.revision.get(),
                      .update = update_,
                      .next = {}};
    if (target != nullptr && !drains_)
      state.next = step_between(is_.pod_template.value(), target->pod_template.value());
    state_ = write_update_state(state);
    state.next = {};
    first_state_ = write_update_state(state);
  }

  void find_conditions() {
    const Dict &before = was_.conditions, &after = is_.conditions;
    for (const Entry& entry : after.entries()) {
      const bool has_to_close = begins_ && entry.key == condition::in_place;
      if (entry.value != before.at(entry.key) || (has_to_close && entry.value == status::no))
        conditions_.push_back(entry);
    }
  }

  /// The conditions, and with them the stage; at the beginning of an update its state as well.
  void write_status() {
    std::vector<Value> rows;
    for (const Entry& each : conditions_) {
      const bool is_update = each.key == condition::in_place && each.value == status::no;
      rows.push_back(
          condition_row(each.key, each.value.text(), now_, is_update ? "StartInPlaceUpdate" : ""));
      if (is_update)
        rows.push_back(condition_row("Ready", status::no, now_, "StartInPlaceUpdate"));
    }
    std::vector<Entry> labels = labels_, annotations = annotations_;
    keep_if(labels, is_of_stage);
    keep_if(annotations, is_of_stage);
    std::erase_if(labels_, [](const Entry& entry) { return is_of_stage(entry.key); });
    std::erase_if(annotations_, [](const Entry& entry) { return is_of_stage(entry.key); });
    if (begins_ && !state_.empty()) {
      annotations.push_back({annotation::update_state, first_state_});
      if (state_ == first_state_)
        state_.clear();
    }
    std::vector<Entry> metadata;
    add_dict(metadata, "labels", std::move(labels));
    add_dict(metadata, "annotations", std::move(annotations));
    add("status", {{"metadata", Value::dict(std::move(metadata))},
                   {"status", Value::dict({{"conditions", Value::list(std::move(rows))}})}});
  }

  /// `opens`: the stage is written with the conditions afterwards.
  void write_pod(bool opens) {
    std::vector<Entry> labels = labels_, annotations = annotations_;
    if (opens) {
      std::erase_if(labels, [](const Entry& entry) { return is_of_stage(entry.key); });
      std::erase_if(annotations, [](const Entry& entry) { return is_of_stage(entry.key); });
    }
    if (!state_.empty())
      annotations.push_back({annotation::update_state, state_});
    std::vector<Entry> metadata;
    add_dict(metadata, "labels", std::move(labels));
    add_dict(metadata, "annotations", std::move(annotations));
    add_finalizers(metadata);
    std::vector<Entry> change;
    if (!metadata.empty())
      change.push_back({"metadata", Value::dict(std::move(metadata))});
    if (!step_.images.is_null())
      change.push_back({"spec", containers_with(step_.images, "image", containers_)});
    if (!change.empty())
      add("", std::move(change));
  }

  /// Those of the template; others belong to whoever wrote them. A server joins the list that it has
  /// with the one of a patch, so what goes is named on its own.
  void add_finalizers(std::vector<Entry>& metadata) const {
    const Value& before = was_.pod_template.at("metadata").at("finalizers");
    const Value& after = is_.pod_template.at("metadata").at("finalizers");
    if (std::vector<Value> more = those_without(after, before); !more.empty())
      metadata.push_back({"finalizers", Value::list(std::move(more))});
    if (std::vector<Value> gone = those_without(before, after); !gone.empty())
      metadata.push_back({"$deleteFromPrimitiveList/finalizers", Value::list(std::move(gone))});
  }

  void add(std::string_view subresource, std::vector<Entry> change) {
    Value patch = Value::dict(std::move(change));
    const Value& given = patch.at("metadata");
    std::vector<Entry> metadata{{"uid", meta_.uid}};
    if (given.is_dict())
      metadata.insert(metadata.end(), given.entries().begin(), given.entries().end());
    if (writes_.empty())
      metadata.push_back({"resourceVersion", meta_.version});
    std::vector<Entry> entries(patch.entries().begin(), patch.entries().end());
    entries.push_back({"metadata", Value::dict(std::move(metadata))});
    writes_.push_back({subresource, Value::dict(std::move(entries))});
  }

  const Pod was_, is_;
  const ObjectMeta meta_;
  const std::vector<Name> containers_;
  const Value update_before_, update_;
  std::vector<Entry> labels_, annotations_;  ///< that are not written yet; null takes one away
  const NextStep step_;                      ///< of this act
  const Time now_;
  std::string state_;              ///< of the update, as it is to be written; empty: it stays
  std::string first_state_;        ///< before anything has changed, so that nothing comes next
  std::vector<Entry> conditions_;  ///< that are to be written
  bool begins_ = false, drains_ = false;
  std::vector<PodWrite> writes_;
};

}  // namespace

Value pod_object(const Attributes& wanted, const PodMaker& maker) {
  const Pod pod = read<Pod>(wanted);
  const int64_t made_at = memory_of_pod(wanted).made;
  const Value made = Value::dict({{"uid", pod.uid.value()}, {"at", made_at}});
  const Value annotations = pod_annotations(wanted);
  std::vector<Entry> all_annotations(annotations.entries().begin(), annotations.entries().end());
  all_annotations.push_back({annotation::made, write_json(made)});
  for (Entry& entry :
       sidecar_annotations({}, pod.sidecars.value(), {}, maker.hashes, Time(Duration(made_at))))
    all_annotations.push_back(std::move(entry));
  const Value& of_template = pod.pod_template.at("metadata").at("finalizers");
  std::vector<Value> gates, volumes;
  for (const Entry& entry : pod.conditions.entries())
    gates.push_back(Value::dict({{"conditionType", entry.key}}));
  if (maker.marks_not_ready && pod.conditions.at(condition::pod_ready).is_null())
    gates.push_back(Value::dict({{"conditionType", condition::pod_ready}}));
  for (const Entry& entry : pod.claims.entries())
    volumes.push_back(
        Value::dict({{"name", entry.key},
                     {"persistentVolumeClaim", Value::dict({{"claimName", entry.value}})}}));
  const Value merged = spec_with_injection_marks(pod_spec(wanted), pod.sidecars.value());
  const Value spec = pod.node.empty() ? merged : spec_on_node(merged, pod.node.get());
  std::vector<Entry> spec_entries(spec.entries().begin(), spec.entries().end());
  spec_entries.push_back(
      {"readinessGates", added(spec.at("readinessGates"), gates, "conditionType")});
  if (!volumes.empty())
    spec_entries.push_back({"volumes", added(spec.at("volumes"), volumes, "name")});
  for (const auto& [key, name] :
       {std::pair("hostname", pod.hostname.get()), {"subdomain", pod.subdomain.get()}})
    if (!name.empty())
      spec_entries.push_back({key, name});
  std::vector<Entry> metadata{{"name", pod.name.value()},
                              {"namespace", pod.space.value()},
                              {"labels", pod_labels(wanted)},
                              {"annotations", Value::dict(std::move(all_annotations))},
                              {"ownerReferences", Value::list({owner_reference(*maker.owner)})}};
  if (!pod.finalizers.empty() || of_template.is_list())
    metadata.push_back(
        {"finalizers", pod.finalizers.empty() ? of_template : pod.finalizers.value()});
  return Value::dict({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", Value::dict(std::move(metadata))},
                      {"spec", Value::dict(std::move(spec_entries))}});
}

PodWrite gates_write(const Attributes& wanted, const Value& object, Time now) {
  const ObjectMeta meta = meta_of(object);
  const Dict conditions = read_one<&Pod::conditions>(wanted);
  std::vector<Value> rows;
  for (const Name& type : own_gates(object.at("spec"))) {
    const Value& is = conditions.at(type);
    rows.push_back(
        condition_row(type, is == Value(status::no) ? status::no : status::yes, now, ""));
  }
  return {"status",
          Value::dict(
              {{"metadata", Value::dict({{"uid", meta.uid}, {"resourceVersion", meta.version}})},
               {"status", Value::dict({{"conditions", Value::list(std::move(rows))}})}})};
}

std::vector<PodWrite> pod_writes(const Attributes& known, const Attributes& wanted,
                                 const Value& object,
                                 const std::vector<ControllerRevision>& revisions, Time now,
                                 const HashesBySidecarSet& hashes) {
  return PodDifference(known, wanted, object, revisions, now, hashes).writes();
}

}  // namespace fettle::cluster
