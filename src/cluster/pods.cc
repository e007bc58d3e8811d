#include "cluster/pods.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/daemon_pods.h"
#include "cluster/names.h"
#include "cluster/sidecars.h"
#include "cluster/update_state.h"
#include "kinds/pod.h"
#include "value/name_at.h"
#include "workloads/names.h"

namespace fettle::cluster {
namespace {

using workloads::Lifecycle;

constexpr std::string_view deletion_finalizers[] = {"foregroundDeletion", "orphan"};

/// The template of a pod whose revision is gone: any update recreates it.
Value own_template(const Value& object, const Value& sidecars) {
  return Value::dict({{"metadata", Value::dict({{"labels", object.at("metadata").at("labels")}})},
                      {"spec", spec_without_sidecars(object.at("spec"), sidecars)}});
}

std::vector<Entry> own_annotations(const Value& metadata, const Value& of_template) {
  std::vector<Entry> own = changed_entries(of_template, metadata.at("annotations"));
  std::erase_if(own, [](const Entry& entry) { return is_bookkeeping(entry.key); });
  return own;
}

/// All finalizers but those by which a server deletes. Null: they are those of the template, in
/// whatever order a server has joined them.
Value own_finalizers(const Value& metadata, const Value& pod_template) {
  std::vector<Value> own;
  for (const Value& each : items_of(metadata.at("finalizers")))
    if (std::ranges::find(deletion_finalizers, to_text(each)) == std::end(deletion_finalizers))
      own.push_back(each);
  const auto made_with = items_of(pod_template.at("metadata").at("finalizers"));
  return std::ranges::is_permutation(own, made_with) ? Value() : Value::list(std::move(own));
}

/// An update that got no further than its stage or its gate, or whose state somebody removed: it has
/// changed nothing, so it is over.
Value begun_by_others() { return Value::dict({{"since", 0}, {"last", Value::dict({})}}); }

Value claims_of(const Value& spec, const Value& pod_template) {
  std::vector<Entry> claims;
  for (const Value& volume : items_of(spec.at("volumes"))) {
    const Value& claim = volume.at("persistentVolumeClaim").at("claimName");
    const auto made_with = items_of(pod_template.at("spec").at("volumes"));
    const bool is_of_template = std::ranges::any_of(made_with, [&](const Value& each) {
      return each.at("name") == volume.at("name") && each.find("persistentVolumeClaim") != nullptr;
    });
    if (claim.is_text() && !is_of_template)
      claims.push_back({volume.text_at("name"), claim});
  }
  return claims.empty() ? Value() : Value::dict(std::move(claims));
}

/// Those of others, which the fleet knows as marks.
std::vector<Entry> foreign(const std::vector<Entry>& own) {
  std::vector<Entry> kept;
  for (const Entry& entry : own)
    if (!workloads::is_of_workload(entry.key))
      kept.push_back(entry);
  return kept;
}

class PodReader {
 public:
  PodReader(const Value& object, const PodContext& context)
      : object_(object), context_(context), meta_(meta_of(object)) {}

  Result<ClusterPod> read() {
    TRY(check_owner(meta_, context_.owner_uid, "pod"));
    read_revision();
    read_metadata();
    read_conditions();
    const Value state = memory();
    ClusterPod found;
    found.key = {context_.environment, "pod", node_name_of("", meta_.space, meta_.name)};
    found.node = name_at(object_.at("spec"), "nodeName");
    found.state = State(object_.at("status"));
    found.marks = marks_;
    pod_.state = state;
    found.record = record_of(found.key);
    return found;
  }

 private:
  void read_revision() {
    const Value& metadata = object_.at("metadata");
    const Name label = name_at(metadata.at("labels"), workloads::label::revision);
    update_ = read_update_state(json_annotation(object_, annotation::update_state));
    const ControllerRevision* const has = revision_of_label(*context_.revisions, label);
    pod_.name = meta_.name;
    pod_.space = meta_.space;
    pod_.owner = owner_;
    if (meta_.controller->kind == "DaemonSet")
      pod_.node = node_of_spec(object_.at("spec"));
    if (meta_.controller->kind == "StatefulSet") {
      pod_.hostname = object_.at("spec").text_at("hostname");
      pod_.subdomain = object_.at("spec").text_at("subdomain");
    }
    pod_.revision = has == nullptr ? label : has->name;
    const bool has_grace = metadata.at("annotations").find(annotation::update_grace) != nullptr;
    const Lifecycle stage =
        workloads::lifecycle_of(metadata.at("labels").text_at(workloads::label::lifecycle_state));
    const Value& gate =
        condition_of(object_.at("status").at("conditions"), workloads::condition::in_place);
    is_updating_ = stage == Lifecycle::updating || gate.text_at("status") == "False";
    if (is_updating_ && update_.update.is_null())
      update_ = {.revision = label, .update = begun_by_others(), .next = {}};
    drains_ = is_updating_ && (has_grace || update_.revision != label);
    pod_.sidecars = read_sidecars(object_);
    pod_.pod_template =
        has == nullptr ? own_template(object_, pod_.sidecars.value()) : has->pod_template.value();
    if (is_updating_)
      target_ = revision_of_label(*context_.revisions, update_.revision);
    if (is_updating_ && target_ == has && has != nullptr)
      pod_.pod_template = template_as_on(has->pod_template.value(), object_, awaited());
    // OpenKruise has named it anew, and changes its labels and annotations when it has drained.
    if (drains_ && target_ == has && has != nullptr)
      pod_.pod_template =
          metadata_as_on(pod_.pod_template.value(), object_,
                         metadata_change_of(json_annotation(object_, annotation::update_grace)));
    if (drains_ && target_ != nullptr)
      pod_.revision = target_->name;
    if (context_.gates.claim_hash && has != nullptr)
      pod_.claims_hash = has->claims_hash;
  }

  /// Containers that have not changed yet. OpenKruise names the new revision before it drains.
  NextStep awaited() const {
    if (!drains_)
      return update_.next;
    // A server fills in resources, so that they differ without a wish.
    const Value now = own_template(object_, pod_.sidecars.value());
    return {.images = step_between(now, target_->pod_template.value()).images, .resources = {}};
  }

  void read_metadata() {
    const Value& metadata = object_.at("metadata");
    const Value made_with =
        template_with_sidecars(pod_.pod_template.value(), pod_.sidecars.value());
    const Value& made_metadata = made_with.at("metadata");
    std::vector<Entry> labels = changed_entries(made_metadata.at("labels"), metadata.at("labels"));
    std::vector<Entry> annotations = own_annotations(metadata, made_metadata.at("annotations"));
    const Value finalizers = own_finalizers(metadata, pod_.pod_template.value());
    std::vector<Entry> marks, marked_labels = foreign(labels),
                              marked_annotations = foreign(annotations);
    if (!marked_labels.empty())
      marks.push_back({"labels", Value::dict(std::move(marked_labels))});
    if (!marked_annotations.empty())
      marks.push_back({"annotations", Value::dict(std::move(marked_annotations))});
    if (!finalizers.is_null())
      marks.push_back({"finalizers", finalizers});
    if (!marks.empty()) {
      marks_.emplace();
      marks_->kind = "Pod";
      marks_->space = meta_.space;
      marks_->name = meta_.name;
      marks_->document = Value::dict({{"metadata", Value::dict(std::move(marks))}});
    }
    if (drains_ && target_ != nullptr)
      for (const Name& key : {workloads::label::revision, workloads::label::template_hash})
        labels.push_back({key, key == workloads::label::template_hash ? target_->hash
                               : is_named_by_hash()                   ? target_->hash
                                                                      : target_->name});
    pod_.labels = dict_or_null(std::move(labels));
    pod_.annotations = dict_or_null(std::move(annotations));
    if (!finalizers.is_null() && !finalizers.items().empty())
      pod_.finalizers = finalizers;
    pod_.claims = claims_of(object_.at("spec"), made_with);
    pod_.resize = context_.gates.resize;
    pod_.keep_environment = !context_.gates.environment;
  }

  /// As in `revision_labels`.
  bool is_named_by_hash() const {
    return context_.gates.short_hash || meta_.controller->kind == "DaemonSet";
  }

  void read_conditions() {
    std::vector<Entry> conditions;
    for (const Name& type : own_gates(object_.at("spec"))) {
      const Value& condition = condition_of(object_.at("status").at("conditions"), type);
      is_complete_ &= !condition.is_null();
      conditions.push_back({type, condition.text_at("status") == "False" ? "False" : "True"});
    }
    pod_.conditions = dict_or_null(std::move(conditions));
  }

  /// The pod's `state`, and with it its uid.
  Value memory() {
    const Value made = json_annotation(object_, annotation::made);
    pod_.uid = made.text_at("uid", meta_.uid);
    std::vector<Entry> entries{
        {"made", made.integer_at("at", meta_.created.time_since_epoch().count())}};
    if (marks_)
      entries.push_back({"marked", true});
    if (is_updating_) {
      std::vector<Entry> update(update_.update.entries().begin(), update_.update.entries().end());
      if (drains_)
        update.push_back({"grace", true});
      entries.push_back({"update", Value::dict(std::move(update))});
    }
    return Value::dict(std::move(entries));
  }

  RecordPointer record_of(const Key& key) const {
    auto record = std::make_shared<Record>();
    Resource resource;
    resource.key = key;
    resource.driver = context_.driver;
    resource.attributes = write(pod_);
    for (const Entry& entry : pod_.claims.entries()) {
      Need need;
      need.keys.push_back({context_.environment, "claim",
                           node_name_of("", meta_.space.view(), to_text(entry.value))});
      resource.needs.push_back(std::move(need));
    }
    record->incarnation = 1;
    record->changes = 1;
    record->remote_id = meta_.uid.str();
    record->finished = meta_.created;
    record->wanted_by[owner_] = resource.attributes.digest();
    PodOutputs outputs;
    outputs.uid = meta_.uid;
    outputs.ip = name_at(object_.at("status"), "podIP");
    record->outputs = Outputs(write(outputs));
    if (!is_complete_ || meta_.is_leaving) {
      Attempt& attempt = record->attempt.emplace();
      attempt.resource = resource;
      attempt.verb = meta_.is_leaving ? Verb::remove : Verb::create;
      attempt.started = meta_.created;
    }
    if (is_complete_ || meta_.is_leaving)
      record->applied = std::move(resource);
    return record;
  }

  const Value& object_;
  const PodContext& context_;
  const ObjectMeta meta_;
  const Name owner_ = meta_.owner();
  Pod pod_;
  UpdateState update_;
  const ControllerRevision* target_ = nullptr;  ///< of the update under way
  std::optional<workloads::Object> marks_;
  bool is_updating_ = false, drains_ = false, is_complete_ = true;
};

}  // namespace

std::vector<Name> own_gates(const Value& spec) {
  std::vector<Name> own;
  for (const Value& gate : items_of(spec.at("readinessGates")))
    for (const Name& type : {workloads::condition::in_place, workloads::condition::pod_ready})
      if (gate.text_at("conditionType") == type.view())
        own.push_back(type);
  return own;
}

bool is_bookkeeping(std::string_view key) {
  return key == annotation::update_state || key == annotation::update_grace ||
         key == annotation::made || is_of_sidecars(key);
}

Result<ClusterPod> read_pod(const Value& object, const PodContext& context) {
  return PodReader(object, context).read();
}

}  // namespace fettle::cluster
