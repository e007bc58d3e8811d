#include "workloads/decide/stateful_set.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/budget.h"
#include "workloads/decide/pre_download.h"
#include "workloads/names.h"
#include "workloads/place.h"
#include "workloads/pods/lifecycle.h"
#include "workloads/pods/new_pod.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/pods/update_pod.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

/// The number at the end of `SET-NUMBER`. Below zero: it has none.
int64_t ordinal_of(std::string_view pod, std::string_view set) {
  if (pod.size() <= set.size() + 1 || !pod.starts_with(set) || pod[set.size()] != '-')
    return -1;
  int64_t ordinal = -1;
  const std::string_view digits = pod.substr(set.size() + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? ordinal : -1;
}

class StatefulSet {
 public:
  explicit StatefulSet(Rollout& rollout) : rollout_(rollout), in_place_(rollout) {}

  void decide() {
    refresh_surroundings(rollout_);
    in_place_.refresh();
    refresh_lifecycles(rollout_);
    delete_deleted(rollout_);
    refresh_identities();
    // A pod that goes may open the way for one that comes, on the next occasion.
    find_slots();
    rollout_.keep_ended([&](const FleetPod& pod) {
      return is_wanted(ordinal_of(pod.name, rollout_.workload.name));
    });
    keep_wanted();
    if (pre_downloads(rollout_))
      pre_download(rollout_, in_place_, UpdateQueue::of(pull_order()));
    if (create() && condemn() && delete_specified())
      update();
    rollout_.settle_revisions();
    const std::set<Name> needed = claims_of_ordinals();
    emit_claims(
        rollout_,
        [&](const Name& claim) {
          return !rollout_.workload.deletes_claims_when_scaled || needed.contains(claim);
        },
        !rollout_.workload.deletes_claims_when_deleted);
  }

 private:
  std::set<Name> claims_of_ordinals() const;
  void refresh_identities();
  void find_slots();
  bool create();
  bool create_pod(int64_t ordinal, Placement& placement);
  bool condemn();
  bool is_wanted(int64_t ordinal) const;
  bool is_any_leaving() const;
  bool is_healthy(uint32_t row) const;
  bool is_awaited(uint32_t row) const;
  int64_t coming() const;
  bool delete_specified();
  void keep_wanted();
  void update();
  Order waiting_order();
  Order pull_order();
  Budget budget() const {
    return Budget(most_unavailable_of_ordinals(rollout_.workload) - unavailable());
  }
  std::optional<uint32_t> row_of(int64_t ordinal) const;
  bool keeps_current(int64_t ordinal) const;
  /// How many of the wanted numbers are lower.
  int64_t place_of(int64_t ordinal) const {
    return std::ranges::lower_bound(ordinals_, ordinal) - ordinals_.begin();
  }
  int64_t unavailable() const;

  Rollout& rollout_;
  InPlace in_place_;
  std::vector<int64_t> ordinals_;
  std::map<int64_t, uint32_t> rows_;
};

/// Services find a pod by its name. In a cluster anybody may take the label away.
void StatefulSet::refresh_identities() {
  for (size_t row = 0; rollout_.fleet.is_cluster && row < rollout_.size(); ++row) {
    const Name name = rollout_.rows[row].name();
    const int64_t ordinal = ordinal_of(name, rollout_.workload.name);
    if (ordinal < 0 || rollout_.rows[row].labels().text_at(label::pod_name) == name.view())
      continue;
    PodEdit edit(rollout_.attributes(row));
    edit.set_in<&Pod::labels>(label::pod_name, name);
    edit.set_in<&Pod::labels>(label::pod_index, std::to_string(ordinal));
    rollout_.change(row, edit.made());
  }
}

void StatefulSet::find_slots() {
  ordinals_ = ordinals_of(rollout_.workload);
  rows_.clear();
  for (size_t row = 0; row < rollout_.size(); ++row)
    rows_[ordinal_of(rollout_.rows[row].name(), rollout_.workload.name)] =
        static_cast<uint32_t>(row);
}

std::optional<uint32_t> StatefulSet::row_of(int64_t ordinal) const {
  const auto found = rows_.find(ordinal);
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

int64_t StatefulSet::unavailable() const {
  return std::ranges::count_if(ordinals_, [&](int64_t ordinal) {
    const auto row = row_of(ordinal);
    return !row || !rollout_.rows[*row].is_available;
  });
}

/// Of all pods that are wanted, also of one that is being replaced and is not there now: only what a
/// smaller number leaves over goes when the set is scaled.
std::set<Name> StatefulSet::claims_of_ordinals() const {
  std::set<Name> names;
  for (const ClaimTemplate& claim : rollout_.workload.claims)
    for (const int64_t ordinal : ordinals_)
      names.insert(cat(claim.name, "-", rollout_.workload.name, "-", ordinal));
  return names;
}

/// Whether a new pod has the current revision. A partition counts pods, whatever their numbers are.
bool StatefulSet::keeps_current(int64_t ordinal) const {
  const Workload& workload = rollout_.workload;
  if (workload.type != UpdateType::rolling)
    return false;
  const int64_t partition = workload.partition ? workload.partition->number : 0;
  if (!workload.unordered)
    return place_of(ordinal) < partition;
  const int64_t updated =
      std::ranges::count_if(rollout_.rows, [](const PodRow& row) { return row.is_updated; });
  return updated >= workload.replicas - partition;
}

bool StatefulSet::create_pod(int64_t ordinal, Placement& placement) {
  const Workload& workload = rollout_.workload;
  const std::string name = cat(workload.name, "-", ordinal);
  // The one before has to be gone: the two have one name.
  for (const FleetPod* pod : rollout_.owned.pods)
    if (pod->name == name)
      return false;
  const Revision& revision = keeps_current(ordinal) ? rollout_.current() : rollout_.update();
  const PodClaims claims = claims_for(rollout_, std::to_string(ordinal));
  Pod pod = new_pod(rollout_, revision, name,
                    {{label::pod_name, name}, {label::pod_index, std::to_string(ordinal)}});
  const auto node = placement.place(spec_to_place(rollout_, pod), claims.node);
  if (!node) {
    rollout_.lack_room(name, placement.why_not(), placement.is_soon());
    return false;
  }
  pod.claims = claims.by_volume;
  pod.hostname = name;
  pod.subdomain = workload.service_name;
  rollout_.create(*node, std::move(pod));
  return true;
}

/// Makes missing pods, the lowest number first. In order, each waits for the one before, and
/// nothing else happens until all are there. Returns whether it may.
bool StatefulSet::create() {
  const Workload& workload = rollout_.workload;
  Placement placement(rollout_.fleet, counts_on_nodes(rollout_));
  int64_t allowed = static_cast<int64_t>(ordinals_.size());
  if (workload.parallel && workload.scale_max_unavailable) {
    const int64_t broken =
        std::ranges::count_if(rollout_.rows, [](const PodRow& row) { return !row.is_available; });
    allowed = workload.scale_max_unavailable->of(workload.replicas, true) - broken;
  }
  bool is_any_missing = false;
  for (const int64_t ordinal : ordinals_) {
    const auto row = row_of(ordinal);
    if (row) {
      if (!workload.parallel && is_awaited(*row))
        return !rollout_.rows[*row].is_updated;
      continue;
    }
    is_any_missing = true;
    if (allowed-- > 0)
      create_pod(ordinal, placement);
    if (!workload.parallel)
      break;
  }
  find_slots();
  return workload.parallel || !is_any_missing;
}

/// Whether others wait until the pod is there, and nothing that is to be done to it will change
/// that.
bool StatefulSet::is_awaited(uint32_t row) const {
  const PodRow& pod = rollout_.rows[row];
  return !is_healthy(row) && !pod.is_specified && pod.lifecycle != Lifecycle::updating;
}

bool StatefulSet::is_wanted(int64_t ordinal) const {
  return std::ranges::binary_search(ordinals_, ordinal);
}

/// Removes pods whose number is not wanted any more, the highest first. Returns whether updates may
/// go on: in order, one pod goes after another, and a pod that a hook holds keeps nobody waiting.
bool StatefulSet::condemn() {
  Order condemned;
  for (auto it = rows_.rbegin(); it != rows_.rend(); ++it)
    if (!is_wanted(it->first))
      condemned.push_back(it->second);
  if (rollout_.workload.parallel) {
    delete_pods(rollout_, condemned);
    find_slots();
    return true;
  }
  if (is_any_leaving())
    return false;
  const auto broken =
      std::ranges::find_if(rows_, [&](const auto& each) { return !is_healthy(each.second); });
  for (const uint32_t row : condemned) {
    if (!is_healthy(row) && row != broken->second)
      return false;
    if (delete_pods(rollout_, {row})) {
      find_slots();
      return false;
    }
  }
  return true;
}

/// Whether a pod whose number is not wanted is on its way out.
bool StatefulSet::is_any_leaving() const {
  return std::ranges::any_of(rollout_.owned.pods, [&](const FleetPod* pod) {
    const int64_t ordinal = ordinal_of(pod->name, rollout_.workload.name);
    return !is_wanted(ordinal) && !rows_.contains(ordinal);
  });
}

/// Whether the pod is available, or only a hook keeps it from that.
bool StatefulSet::is_healthy(uint32_t row) const {
  const PodRow& pod = rollout_.rows[row];
  return pod.is_available || (pod.is_ready() && may_be_held(pod.lifecycle));
}

/// Returns whether nothing was deleted.
bool StatefulSet::delete_specified() {
  Order chosen;
  Budget budget = this->budget();
  for (const int64_t ordinal : std::views::reverse(ordinals_))
    if (const auto row = row_of(ordinal);
        row && rollout_.rows[*row].is_specified && budget.take(rollout_.rows[*row]))
      chosen.push_back(*row);
  const bool has_changed = delete_pods(rollout_, chosen);
  find_slots();
  return !has_changed;
}

/// Keeps pods that no longer have to go or to change.
void StatefulSet::keep_wanted() {
  const Order changing = waiting_order();
  keep_prepared(
      rollout_,
      [&](uint32_t row) {
        return is_wanted(ordinal_of(rollout_.rows[row].name(), rollout_.workload.name)) &&
               std::ranges::find(changing, row) == changing.end();
      },
      static_cast<int64_t>(rollout_.size()));
}

/// How many missing pods will have the update revision.
int64_t StatefulSet::coming() const {
  return std::ranges::count_if(
      ordinals_, [&](int64_t ordinal) { return !row_of(ordinal) && !keeps_current(ordinal); });
}

Order StatefulSet::waiting_order() {
  std::vector<OrdinalSlot> slots;
  for (const int64_t ordinal : ordinals_)
    if (const auto row = row_of(ordinal))
      slots.push_back({place_of(ordinal), *row});
  Order order = sort_ordinals(rollout_.workload, rollout_.rows, slots, coming());
  std::erase_if(order, [&](uint32_t row) { return rollout_.rows[row].is_updated; });
  return order;
}

/// Those whose images are pulled ahead: also pods that the partition keeps, which change later.
Order StatefulSet::pull_order() {
  Order order = waiting_order();
  std::vector<bool> is_listed(rollout_.size());
  for (const uint32_t row : order)
    is_listed[row] = true;
  for (size_t at = ordinals_.size(); at-- > 0;)
    if (const auto row = row_of(ordinals_[at]);
        row && !is_listed[*row] && !rollout_.rows[*row].is_updated)
      order.push_back(*row);
  return order;
}

void StatefulSet::update() {
  const Workload& workload = rollout_.workload;
  if (workload.paused || workload.type != UpdateType::rolling)
    return;
  const Revision& target = rollout_.update();
  Order order = waiting_order();
  mark_images(rollout_, in_place_, target, order);
  const MissingImages missing(rollout_, in_place_, target);
  std::erase_if(order, [&](uint32_t row) {
    return missing.hold(row) || is_on_lost_node(rollout_, in_place_, target, row);
  });
  Budget budget = this->budget();
  Order anew;
  bool is_any_passed = false;  ///< behind it, only pods that are known to be broken have a turn
  for (const uint32_t row : order) {
    const PodRow pod = rollout_.rows[row];
    // A pod that is being deleted goes as soon as its hook lets it.
    if (pod.lifecycle == Lifecycle::preparing_delete) {
      anew.push_back(row);
      continue;
    }
    const bool waits = pod.lifecycle == Lifecycle::updated || is_in_grace(rollout_.attributes(row));
    if (waits || !budget.may_take(pod) || (is_any_passed && pod.readiness == Readiness::unseen)) {
      is_any_passed = true;
      continue;
    }
    const Turn turn = take_turn(rollout_, in_place_, row, target);
    if (turn == Turn::refused)
      return;
    if (turn == Turn::recreate) {
      tell_recreated(rollout_, row, target);
      anew.push_back(row);
    }
    budget.take(pod);
  }
  if (!anew.empty())
    delete_pods(rollout_, anew);
}

}  // namespace

int64_t most_unavailable_of_ordinals(const Workload& workload) {
  if (!workload.parallel)
    return 1;
  return std::max<int64_t>(workload.max_unavailable.of(workload.replicas, false), 1);
}

std::vector<int64_t> ordinals_of(const Workload& workload) {
  std::vector<int64_t> ordinals;
  const auto reserved_until = [&](int64_t ordinal) -> std::optional<int64_t> {
    for (const auto& [first, last] : workload.reserved_ordinals)
      if (ordinal >= first && ordinal <= last)
        return last;
    return std::nullopt;
  };
  for (int64_t ordinal = workload.first_ordinal;
       static_cast<int64_t>(ordinals.size()) < workload.replicas; ++ordinal) {
    if (const auto last = reserved_until(ordinal))
      ordinal = *last;
    else
      ordinals.push_back(ordinal);
  }
  return ordinals;
}

Order sort_ordinals(const Workload& workload, std::span<const PodRow> rows,
                    std::span<const OrdinalSlot> slots, int64_t coming) {
  const int64_t partition = workload.partition ? workload.partition->number : 0;
  const int64_t most = workload.replicas - partition - coming;
  Order order, waiting;
  if (most <= 0)
    return order;
  for (const OrdinalSlot& slot : std::views::reverse(slots)) {
    if (!workload.unordered && slot.place < partition)
      continue;
    const PodRow& pod = rows[slot.row];
    const bool has_turn = pod.is_updated || pod.lifecycle == Lifecycle::preparing_update;
    (workload.unordered && !has_turn ? waiting : order).push_back(slot.row);
  }
  sort_by_priority(workload.order.priority, rows, waiting);
  order.insert(order.end(), waiting.begin(), waiting.end());
  if (static_cast<int64_t>(order.size()) > most)
    order.resize(static_cast<size_t>(most));
  return order;
}

Wanted want_stateful_set(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  StatefulSet(rollout).decide();
  return rollout.finish();
}

}  // namespace fettle::workloads
