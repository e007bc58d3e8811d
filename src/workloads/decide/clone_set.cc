#include "workloads/decide/clone_set.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/text.h"
#include "kinds/claim.h"
#include "kinds/pod.h"
#include "workloads/budget.h"
#include "workloads/decide/pre_download.h"
#include "workloads/decide/progress.h"
#include "workloads/names.h"
#include "workloads/place.h"
#include "workloads/pods/in_place.h"
#include "workloads/pods/lifecycle.h"
#include "workloads/pods/new_pod.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/pods/update_pod.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

/// A rule may open the way for another one. Each does so at most a few times.
constexpr int most_passes = 8;

class CloneSet {
 public:
  explicit CloneSet(Rollout& rollout) : rollout_(rollout), in_place_(rollout) {}

  void decide() {
    refresh_surroundings(rollout_);
    in_place_.refresh();
    refresh_lifecycles(rollout_);
    delete_deleted(rollout_);
    int64_t missing = rollout_.workload.replicas - static_cast<int64_t>(rollout_.size());
    rollout_.keep_ended([&](const FleetPod&) { return missing-- > 0; });
    // A pod that begins to change now was due to change when its image was asked for.
    if (pre_downloads(rollout_))
      pre_download(rollout_, in_place_, update_queue(true));
    for (int pass = 0; pass < most_passes; ++pass) {
      if (scale())
        queues_ = {};
      else if (update())
        queues_ = {};
      else
        break;
    }
    rollout_.settle_revisions();
    emit_claims(rollout_, [&](const Name&) { return rollout_.workload.reuses_claims; }, false);
    follow_progress(rollout_);
  }

 private:
  bool scale();
  bool keep_wanted();
  bool create(const Differences& differences);
  Order affordable(const Differences& differences, const Order& pods) const;
  bool delete_specified(const Differences& differences, Order specified);
  bool scale_in(const Differences& differences);
  bool update();
  bool update_prepared(const Differences& differences,
                       const std::function<bool(uint32_t row)>& may_change);
  bool update_pod(size_t row, const Revision& target);
  Order candidates(bool forward) const;
  const UpdateQueue& update_queue(bool forward);
  std::string free_id();
  int64_t waiting_claims() const;

  Rollout& rollout_;
  InPlace in_place_;
  std::optional<Placement> placement_;
  std::array<std::optional<UpdateQueue>, 2> queues_;  ///< back, forward; while nothing changes
  std::set<std::string> orphans_;                     ///< ids of claims without a pod
  std::set<Name> taken_;                              ///< names that pods have
  bool has_orphans_ = false;
};

Order with_state(const Rollout& rollout, const auto& matches) {
  Order found;
  for (size_t row = 0; row < rollout.size(); ++row)
    if (matches(rollout.rows[row]))
      found.push_back(static_cast<uint32_t>(row));
  return found;
}

/// Pods that were to go stay if more are wanted again.
bool CloneSet::keep_wanted() {
  int64_t planned = 0;
  for (const PodRow& row : rollout_.rows)
    planned += row.is_specified || row.lifecycle == Lifecycle::preparing_delete ? 1 : 0;
  const int64_t missing =
      rollout_.workload.replicas - static_cast<int64_t>(rollout_.size()) + planned;
  return keep_prepared(rollout_, [](uint32_t) { return true; }, missing);
}

/// An id for a pod: first that of claims without a pod, else one that nothing has had yet.
std::string CloneSet::free_id() {
  if (!has_orphans_ && rollout_.workload.reuses_claims) {
    for (const auto& [key, memory] : rollout_.owned.claims)
      if (const std::string_view id = read_one<&VolumeClaim::labels>(memory.resource->attributes)
                                          .value()
                                          .text_at(label::instance_id);
          !id.empty())
        orphans_.insert(std::string(id));
    for (const FleetPod* pod : rollout_.owned.pods)
      orphans_.erase(std::string(pod->labels.text_at(label::instance_id)));
    has_orphans_ = true;
  }
  if (!orphans_.empty()) {
    std::string id = *orphans_.begin();
    orphans_.erase(orphans_.begin());
    return id;
  }
  if (taken_.empty())
    for (const FleetPod* pod : rollout_.owned.pods)
      taken_.insert(pod->name);
  const Value made = rollout_.memory("made");
  int64_t number = made.is_integer() ? made.integer().value_or(0) : 0;
  std::string id;
  do {
    id = short_id(cat(rollout_.owner, rollout_.life(), "#", ++number));
  } while (!taken_.insert(cat(rollout_.workload.name, "-", id)).second);
  rollout_.remember("made", number);
  return id;
}

/// How many new pods wait for the claims of pods that are on their way out.
int64_t CloneSet::waiting_claims() const {
  if (!rollout_.workload.reuses_claims || rollout_.workload.claims.empty())
    return 0;
  std::set<Name> staying;
  for (const PodRow& row : rollout_.rows)
    staying.insert(row.name());
  for (const FleetPod* pod : rollout_.ended())
    staying.insert(pod->name);
  return std::ranges::count_if(rollout_.owned.pods, [&](const FleetPod* pod) {
    return pod->exists && !staying.contains(pod->name);
  });
}

bool CloneSet::create(const Differences& differences) {
  if (differences.scale_up_limit < differences.scale_up)
    rollout_.tell("ScaleUpLimited", std::to_string(differences.scale_up_limit),
                  cat("scale up is limited to ", differences.scale_up_limit, " of ",
                      differences.scale_up, " by scaleStrategy.maxUnavailable"),
                  "Warning");
  if (!placement_)
    placement_.emplace(rollout_.fleet, counts_on_nodes(rollout_));
  bool has_created = false;
  const int64_t count =
      differences.scale_up_limit - waiting_claims() - static_cast<int64_t>(rollout_.ended().size());
  for (int64_t i = 0; i < count; ++i) {
    const Revision& revision =
        i < differences.scale_up_old ? rollout_.current() : rollout_.update();
    const Value made_before = rollout_.memory("made");
    const std::string id = free_id();
    const PodClaims claims = claims_for(rollout_, id);
    Pod pod = new_pod(rollout_, revision, cat(rollout_.workload.name, "-", id),
                      {{label::instance_id, id}});
    const auto node = placement_->place(spec_to_place(rollout_, pod), claims.node);
    if (!node) {
      // A pod that is not made has no name.
      rollout_.remember("made", made_before);
      rollout_.lack_room("", placement_->why_not(), placement_->is_soon());
      break;
    }
    pod.claims = claims.by_volume;
    rollout_.create(*node, std::move(pod));
    has_created = true;
  }
  return has_created;
}

/// The pods of `pods` that may be deleted now, in their order: as many ready ones as the numbers
/// and the budget allow.
Order CloneSet::affordable(const Differences& differences, const Order& pods) const {
  const Numbers numbers = numbers_of(rollout_);
  const auto available =
      std::ranges::count_if(rollout_.rows, [](const PodRow& row) { return row.is_available; });
  Budget budget(available, numbers.replicas, most_unavailable(numbers));
  int64_t limit = differences.delete_ready_limit;
  Order chosen;
  for (const uint32_t row : pods) {
    const PodRow& pod = rollout_.rows[row];
    const bool is_ready =
        pod.is_ready() && (pod.lifecycle == Lifecycle::none || pod.lifecycle == Lifecycle::normal);
    if ((is_ready && limit <= 0) || !budget.take(pod))
      continue;
    limit -= is_ready ? 1 : 0;
    chosen.push_back(row);
  }
  return chosen;
}

bool CloneSet::delete_specified(const Differences& differences, Order specified) {
  std::ranges::stable_partition(specified,
                                [&](uint32_t row) { return rollout_.rows[row].is_updated; });
  return delete_pods(rollout_, affordable(differences, specified));
}

bool CloneSet::scale_in(const Differences& differences) {
  const Order old = with_state(rollout_, [](const PodRow& row) { return !row.is_updated; });
  const Order updated = with_state(rollout_, [](const PodRow& row) { return row.is_updated; });
  return delete_pods(
      rollout_, affordable(differences,
                           chosen_for_deletion(rollout_.rows, old, updated, differences.scale_down,
                                               differences.scale_down_old)));
}

bool CloneSet::scale() {
  if (keep_wanted())
    return true;
  // While pods come and go, a pod that is prepared for its update may count as updated.
  std::vector<PodRow> counted;
  std::span<const PodRow> rows = rollout_.rows;
  if (rollout_.fleet.gates.preparing_update_as_update) {
    counted = rollout_.rows;
    for (PodRow& row : counted)
      row.is_updated |= row.lifecycle == Lifecycle::preparing_update;
    rows = counted;
  }
  const Differences differences = differences_of(numbers_of(rollout_), rows);
  if (differences.scale_up > 0 && create(differences))
    return true;
  // If no more pods may come until others have gone, those that a hook has let go of go on.
  const Order prepared = with_state(
      rollout_, [](const PodRow& row) { return row.lifecycle == Lifecycle::preparing_delete; });
  if (!prepared.empty() && delete_pods(rollout_, prepared))
    return true;
  if (differences.scale_up > 0)
    return false;
  const Order specified = with_state(rollout_, [](const PodRow& row) {
    return row.is_specified && row.lifecycle != Lifecycle::preparing_delete;
  });
  if (!specified.empty() && delete_specified(differences, specified))
    return true;
  if (differences.scale_down == 0 || !specified.empty() || !prepared.empty())
    return false;
  return scale_in(differences);
}

/// Pods that may change now. Pods that go, wait for a hook or drain are not among them.
Order CloneSet::candidates(bool forward) const {
  Order found;
  for (size_t row = 0; row < rollout_.size(); ++row) {
    const PodRow& pod = rollout_.rows[row];
    if (pod.is_updated == forward || pod.lifecycle == Lifecycle::preparing_delete ||
        pod.lifecycle == Lifecycle::updated)
      continue;
    if (!pod.is_updating || !is_in_grace(rollout_.attributes(row)))
      found.push_back(static_cast<uint32_t>(row));
  }
  return found;
}

/// Pods that have yet to get a revision. A second call works nothing out again.
const UpdateQueue& CloneSet::update_queue(bool forward) {
  std::optional<UpdateQueue>& queue = queues_[forward ? 1 : 0];
  if (!queue) {
    Order waiting = candidates(forward);
    mark_images(rollout_, in_place_, forward ? rollout_.update() : rollout_.current(), waiting);
    queue.emplace(rollout_.workload.order, rollout_.rows, std::move(waiting));
  }
  return *queue;
}

bool CloneSet::update_pod(size_t row, const Revision& target) {
  switch (take_turn(rollout_, in_place_, row, target)) {
    case Turn::updates:
    case Turn::prepares:
      return true;
    case Turn::held:
    case Turn::refused:
      return false;
    case Turn::recreate:
      break;
  }
  if (rollout_.rows[row].is_specified)
    return false;
  tell_recreated(rollout_, row, target);
  PodEdit edit(rollout_.attributes(row));
  edit.set_in<&Pod::labels>(label::specified_delete, "true");
  rollout_.change(row, edit.made());
  return true;
}

bool CloneSet::update() {
  const Workload& workload = rollout_.workload;
  if (workload.paused || workload.type != UpdateType::rolling)
    return false;
  const Differences differences = differences_of(numbers_of(rollout_), rollout_.rows);
  if (differences.update == 0)
    return false;
  const bool forward = differences.update > 0;
  const Revision& target = forward ? rollout_.update() : rollout_.current();
  const MissingImages missing(rollout_, in_place_, target);
  const auto may_change = [&](uint32_t row) {
    return !missing.hold(row) && !is_on_lost_node(rollout_, in_place_, target, row);
  };
  bool has_changed = update_prepared(differences, may_change);
  if (has_changed)
    return true;
  const size_t most = most_changes(differences, rollout_.rows);
  if (most == 0)
    return false;
  Order order = update_queue(forward).first(most, may_change);
  for (const uint32_t row : limited(differences, rollout_.rows, std::move(order)))
    has_changed |= update_pod(row, target);
  return has_changed;
}

/// Pods that are prepared for their update have paid for it, and others may wait for them. So they
/// change as soon as no hook holds them.
bool CloneSet::update_prepared(const Differences& differences,
                               const std::function<bool(uint32_t row)>& may_change) {
  const bool forward = differences.update > 0;
  const Revision& target = forward ? rollout_.update() : rollout_.current();
  int64_t due = std::abs(differences.update);
  bool has_changed = false;
  for (uint32_t row = 0; row < rollout_.size() && due > 0; ++row) {
    const PodRow& pod = rollout_.rows[row];
    if (pod.lifecycle != Lifecycle::preparing_update || pod.is_updated == forward ||
        !may_change(row))
      continue;
    --due;
    has_changed |= update_pod(row, target);
  }
  return has_changed;
}

}  // namespace

Numbers numbers_of(const Rollout& rollout) {
  const Workload& workload = rollout.workload;
  Numbers numbers;
  numbers.replicas = workload.replicas;
  numbers.partition = workload.partition;
  numbers.max_surge = workload.max_surge;
  numbers.max_unavailable = workload.max_unavailable;
  numbers.scale_max_unavailable = workload.scale_max_unavailable;
  numbers.paused = workload.paused;
  numbers.exclude_preparing_delete = workload.exclude_preparing_delete;
  numbers.rolls_back = rollout.fleet.gates.partition_rollback;
  numbers.same_revision = rollout.current_index == rollout.update_index;
  return numbers;
}

Wanted want_clone_set(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  CloneSet(rollout).decide();
  return rollout.finish();
}

}  // namespace fettle::workloads
