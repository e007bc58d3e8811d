#include "workloads/pods/in_place.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "kinds/quantity.h"
#include "workloads/names.h"
#include "workloads/pods/lifecycle.h"

namespace fettle::workloads {
namespace {

const ContainerSeen* seen_of(const FleetPod* pod, std::string_view container) {
  if (pod == nullptr)
    return nullptr;
  const auto found = std::ranges::find_if(
      pod->containers, [&](const ContainerSeen& each) { return each.name == container; });
  return found == pod->containers.end() ? nullptr : &*found;
}

Value last_of(const FleetPod* pod, const Name& container, bool is_resize) {
  const ContainerSeen* seen = seen_of(pod, container);
  std::vector<Entry> entries;
  if (is_resize)
    entries.push_back({"resized", true});
  if (seen != nullptr && !seen->image_id.empty())
    entries.push_back({"image_id", seen->image_id});
  if (seen != nullptr && !seen->container_id.empty())
    entries.push_back({"container_id", seen->container_id});
  return Value::dict(std::move(entries));
}

/// Whether a kubelet has given a container the processor time and memory of its template. It may
/// take its time, or have no room.
bool is_resized(const ContainerSeen* seen, const Value& pod_template, std::string_view container) {
  const auto containers = items_of(pod_template.at("spec").at("containers"));
  const auto found = std::ranges::find_if(
      containers, [&](const Value& each) { return each.text_at("name") == container; });
  if (seen == nullptr || !seen->resources.is_dict() || found == containers.end())
    return false;
  for (const char* part : {"limits", "requests"})
    for (const char* amount : {"cpu", "memory"})
      if (const Value& wanted = found->at("resources").at(part).at(amount);
          !wanted.is_null() &&
          quantity_milli(wanted) != quantity_milli(seen->resources.at(part).at(amount)))
        return false;
  return true;
}

Value made_id(const FleetPod* pod, const Name& container) {
  for (const Entry& entry : pod->made)
    if (entry.key == container)
      return entry.value;
  return {};
}

void set_update(PodEdit& edit, Value update) {
  edit.set_in<&Pod::state>(row_of<&PodMemory::update>().name, std::move(update));
}

void set_readiness(PodEdit& edit, bool is_ready) {
  edit.set_in<&Pod::conditions>(condition::in_place,
                                is_ready ? Value(status::yes) : Value(status::no));
}

}  // namespace

namespace {

/// In a cluster DaemonSets do as those of Kubernetes, so that others find their pods.
bool is_named_by_hash(const Fleet& fleet, WorkloadSort sort) {
  return fleet.gates.short_hash || (fleet.is_cluster && sort == WorkloadSort::daemon_set);
}

}  // namespace

std::vector<Entry> revision_labels(const Rollout& rollout, const Revision& revision) {
  return {{label::revision,
           is_named_by_hash(rollout.fleet, rollout.workload.sort) ? revision.hash : revision.name},
          {label::template_hash, revision.hash}};
}

bool is_container_updated(const ContainerSeen* seen, const Value& last,
                          std::string_view wanted_image, const Value& made) {
  // Without an image nothing runs.
  if (seen == nullptr || seen->image_id.empty())
    return false;
  if (made.is_text())
    return seen->container_id == made.text();
  const std::string_view image_id = last.text_at("image_id"), id = last.text_at("container_id");
  const bool is_new = !id.empty() && !seen->container_id.empty() && seen->container_id != id;
  const bool is_other = image_id != seen->image_id.view();
  return is_new || is_other || is_same_image(seen->image, wanted_image);
}

InPlace::InPlace(Rollout& rollout)
    : rollout_(rollout), steps_({rollout.fleet.gates.resize, rollout.fleet.gates.environment}) {}

bool InPlace::can(size_t row, const Revision& target) {
  const Attributes& before = rollout_.attributes(row);
  const Hole<Name> claims = read_one<&Pod::claims_hash>(before);
  const auto key = std::pair(combine(pod_template_of(before).digest(), claims.value().digest()),
                             target.pod_template.digest());
  if (const auto found = possible_.find(key); found != possible_.end())
    return found->second;
  PodEdit edit(before);
  edit.set<&Pod::pod_template>(target.pod_template);
  if (!claims.empty() && !target.claims_hash.empty())
    edit.set<&Pod::claims_hash>(target.claims_hash);
  edit.set<&Pod::resize>(rollout_.fleet.gates.resize ? Value(true) : Value());
  const bool is_possible = pod_kind().in_place_changes(before, edit.made());
  possible_.emplace(key, is_possible);
  return is_possible;
}

std::string InPlace::refusal(size_t row, const Revision& target) {
  const std::string& path =
      steps_.change(pod_template_of(rollout_.attributes(row)), target.pod_template).refusal;
  return path.empty() ? "spec.volumeClaimTemplates" : path;
}

std::vector<Name> InPlace::new_images(size_t row, const Revision& target) {
  std::vector<Name> images;
  const Attributes& attributes = rollout_.attributes(row);
  const PodChange& change = steps_.change(pod_template_of(attributes), target.pod_template);
  for (const Value& container : target.pod_template.at("spec").at("containers").items()) {
    const Name name = container.text_at("name"), image = container.text_at("image");
    const bool changes = std::ranges::find(change.images, name) != change.images.end();
    if (changes && std::ranges::find(images, image) == images.end())
      images.push_back(image);
  }
  return images;
}

void InPlace::set_revision(PodEdit& edit, const Revision& revision) const {
  edit.set<&Pod::revision>(revision.name);
  for (Entry& entry : revision_labels(rollout_, revision))
    edit.set_in<&Pod::labels>(entry.key, std::move(entry.value));
}

/// Makes the next step towards the target's template. `update`: what is remembered of the update so
/// far; `last`: containers that changed before and still count.
void InPlace::take_step(size_t row, PodEdit& edit, const Value& target, const Value& update,
                        const Value& last) const {
  const Step& step = steps_.next(pod_template_of(edit.before()), target);
  const FleetPod* pod = rollout_.pod(row);
  std::vector<Entry> changed;
  for (const Name& name : step.resources)
    changed.push_back({name, last_of(pod, name, true)});
  for (const auto* names : {&step.environment, &step.images})
    for (const Name& name : *names)
      changed.push_back({name, last_of(pod, name, false)});
  set_update(edit,
             edited(update, {{"last", edited(last, std::move(changed))}, {"grace", Value()}}));
  if (step.disturbs)
    set_readiness(edit, false);
  edit.set<&Pod::pod_template>(step.pod_template);
  edit.set<&Pod::configs>(
      rollout_.configs_for(step.pod_template, read_one<&Pod::sidecars>(edit.before()).value()));
}

void InPlace::begin(size_t row, const Revision& target) {
  PodEdit edit(rollout_.attributes(row));
  const Value last = memory_of_pod(edit.before()).update.at("last");
  const Step& step = steps_.next(pod_template_of(edit.before()), target.pod_template);
  const bool drains = rollout_.workload.grace_seconds > 0 && !step.images.empty();
  const Value update =
      edited(Value::dict({{"since", rollout_.now.time_since_epoch().count()},
                          {"from", read_one<&Pod::revision>(edit.before()).value()}}),
             {{"grace", drains ? Value(true) : Value()}});
  set_revision(edit, target);
  set_lifecycle(edit, Lifecycle::updating, false, rollout_.now);
  // The abilities of the pod follow the present gates.
  edit.set<&Pod::resize>(rollout_.fleet.gates.resize ? Value(true) : Value());
  edit.set<&Pod::keep_environment>(rollout_.fleet.gates.environment ? Value() : Value(true));
  if (drains) {
    set_update(edit, update);
    set_readiness(edit, false);
    rollout_.ask_at(rollout_.now + std::chrono::seconds(rollout_.workload.grace_seconds));
  } else {
    take_step(row, edit, target.pod_template, update, last.is_dict() ? last : Value::dict({}));
  }
  rollout_.change(row, edit.made());
}

void InPlace::advance(size_t row, const Revision& target, const Value& update, const Value& last) {
  PodEdit edit(rollout_.attributes(row));
  take_step(row, edit, target.pod_template, update, last);
  rollout_.change(row, edit.made());
}

bool InPlace::is_consistent(size_t row, const Value& update) const {
  if (!rollout_.is_done(row))
    return false;
  const Value& last = update.at("last");
  if (!last.is_dict())
    return true;
  const FleetPod* pod = rollout_.pod(row);
  return std::ranges::all_of(last.entries(), [&](const Entry& each) {
    // An engine has resized it when the act is done.
    if (each.value.bool_at("resized"))
      return !rollout_.fleet.is_cluster ||
             is_resized(seen_of(pod, each.key), pod_template_of(rollout_.attributes(row)),
                        each.key.view());
    return is_container_updated(seen_of(pod, each.key), each.value,
                                pod_image(rollout_.attributes(row), each.key),
                                made_id(pod, each.key));
  });
}

bool InPlace::are_ready(size_t row, const Value& update) const {
  const Value& last = update.at("last");
  return !last.is_dict() || std::ranges::all_of(last.entries(), [&](const Entry& each) {
    const ContainerSeen* seen = seen_of(rollout_.pod(row), each.key);
    return seen != nullptr && seen->is_ready;
  });
}

Attributes InPlace::finished(size_t row) const {
  const auto& hook = rollout_.workload.hooks.in_place_update;
  const bool waits = hook && !is_all_hooked(hook, rollout_.rows[row], rollout_, row);
  PodEdit edit(rollout_.attributes(row));
  set_update(edit, {});
  set_readiness(edit, true);
  set_lifecycle(edit, waits ? Lifecycle::updated : Lifecycle::normal, false, rollout_.now);
  return edit.made();
}

/// A pod that drains for a revision that nobody wants any more goes back to what it was.
void InPlace::refresh_grace(size_t row, const Value& update) {
  const Attributes& attributes = rollout_.attributes(row);
  const std::string_view target = read_one<&Pod::revision>(attributes).view();
  const bool is_wanted =
      target == rollout_.update().name ||
      (rollout_.fleet.gates.partition_rollback && target == rollout_.current().name);
  const Revision* from = rollout_.revision(update.text_at("from"));
  if (!is_wanted && from != nullptr) {
    PodEdit edit(attributes);
    set_update(edit, {});
    set_readiness(edit, true);
    set_lifecycle(edit, Lifecycle::normal, false, rollout_.now);
    set_revision(edit, *from);
    rollout_.change(row, edit.made());
    return;
  }
  const Revision* revision = rollout_.revision(target);
  const Time end = Time(Duration(update.integer_at("since"))) +
                   std::chrono::seconds(rollout_.workload.grace_seconds);
  if (rollout_.now < end)
    rollout_.ask_at(end);
  else if (rollout_.is_done(row) && revision != nullptr)
    advance(row, *revision, update, Value::dict({}));
}

void InPlace::refresh_row(size_t row) {
  const Value update = memory_of_pod(rollout_.attributes(row)).update;
  if (update.is_null())
    return;
  if (update.bool_at("grace")) {
    refresh_grace(row, update);
    return;
  }
  if (!is_consistent(row, update))
    return;
  const Attributes& attributes = rollout_.attributes(row);
  const Revision* target = rollout_.revision(read_one<&Pod::revision>(attributes).view());
  if (target != nullptr && target->pod_template != pod_template_of(attributes)) {
    const Value& last = update.at("last");
    if (are_ready(row, update))
      advance(row, *target, update, last.is_dict() ? last : Value::dict({}));
    return;
  }
  rollout_.change(row, finished(row));
}

void InPlace::refresh() {
  for (size_t row = 0; row < rollout_.size(); ++row)
    if (rollout_.rows[row].is_updating)
      refresh_row(row);
}

}  // namespace fettle::workloads
