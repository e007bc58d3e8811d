#include "workloads/stateful_set.h"

#include <algorithm>
#include <charconv>
#include <ranges>

#include "base/text.h"
#include "workloads/lifecycle.h"
#include "workloads/names.h"
#include "workloads/new_pod.h"
#include "workloads/place.h"
#include "workloads/pre_download.h"
#include "workloads/rollout.h"
#include "workloads/update_pod.h"

namespace fettle::workloads {
namespace {

/// The number at the end of `SET-NUMBER`; below zero: it has none.
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
    // What goes may open the way for what comes, on the next occasion.
    find_slots();
    if (pre_downloads(rollout_))
      pre_download(rollout_, in_place_, UpdateQueue::of(waiting_order()));
    if (create() && condemn() && delete_specified())
      update();
    rollout_.settle_revisions();
    emit_claims(rollout_, !rollout_.workload.deletes_claims_when_scaled,
                !rollout_.workload.deletes_claims_when_deleted);
  }

 private:
  void find_slots();
  bool create();
  bool create_pod(int64_t ordinal, Placement& placement);
  bool condemn();
  bool delete_specified();
  void update();
  Order waiting_order();
  std::optional<uint32_t> row_of(int64_t ordinal) const;
  bool keeps_current(int64_t ordinal) const;
  int64_t unavailable() const;
  int64_t most_unavailable() const;

  Rollout& rollout_;
  InPlace in_place_;
  std::vector<int64_t> ordinals_;
  std::map<int64_t, uint32_t> rows_;
};

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

/// In order one pod at a time; in parallel as many as are asked for, rounded down, and at least
/// one.
int64_t StatefulSet::most_unavailable() const {
  const Workload& workload = rollout_.workload;
  if (!workload.parallel)
    return 1;
  return std::max<int64_t>(workload.max_unavailable.of(workload.replicas, false), 1);
}

/// Whether a new pod has the current revision.
bool StatefulSet::keeps_current(int64_t ordinal) const {
  const Workload& workload = rollout_.workload;
  if (workload.type != UpdateType::rolling)
    return true;
  const int64_t partition = workload.partition ? workload.partition->number : 0;
  if (!workload.unordered)
    return ordinal < partition;
  const int64_t updated =
      std::ranges::count_if(rollout_.rows, [](const PodRow& row) { return row.is_updated; });
  return updated >= workload.replicas - partition;
}

bool StatefulSet::create_pod(int64_t ordinal, Placement& placement) {
  const Workload& workload = rollout_.workload;
  const std::string name = cat(workload.name, "-", ordinal);
  // The one before has to be gone: the two have one name.
  for (const Pod* pod : rollout_.owned.pods)
    if (pod->name == name)
      return false;
  const Revision& revision = keeps_current(ordinal) ? rollout_.current() : rollout_.update();
  const PodClaims claims = claims_for(rollout_, std::to_string(ordinal));
  const auto node = placement.place(revision.pod_template.at("spec"), claims.node);
  if (!node) {
    rollout_.tell("FailedScheduling", name, placement.why_not(), "Warning");
    return false;
  }
  const Value pod = new_pod(rollout_, revision, *node, name,
                            {{label::pod_name, name}, {label::pod_index, std::to_string(ordinal)}});
  rollout_.create(*node, edited(pod, {{"claims", claims.by_volume},
                                      {"hostname", name},
                                      {"subdomain", workload.service_name.empty()
                                                        ? Value()
                                                        : Value(workload.service_name)}}));
  return true;
}

/// Missing pods, the lowest number first. In order, each waits for the one before. Whether all are
/// there and, in order, available.
bool StatefulSet::create() {
  const Workload& workload = rollout_.workload;
  Placement placement(rollout_.fleet, counts_on_nodes(rollout_));
  int64_t allowed = static_cast<int64_t>(ordinals_.size());
  if (workload.parallel && workload.scale_max_unavailable) {
    const int64_t broken =
        std::ranges::count_if(rollout_.rows, [](const PodRow& row) { return !row.is_available; });
    allowed = workload.scale_max_unavailable->of(workload.replicas, true) - broken;
  }
  bool are_all_there = true;
  for (const int64_t ordinal : ordinals_) {
    const auto row = row_of(ordinal);
    if (row) {
      if (!workload.parallel && !rollout_.rows[*row].is_available &&
          rollout_.rows[*row].lifecycle != Lifecycle::updating)
        return rollout_.rows[*row].is_updated ? false : are_all_there;
      continue;
    }
    are_all_there = false;
    if (allowed-- > 0)
      create_pod(ordinal, placement);
    if (!workload.parallel)
      break;
  }
  find_slots();
  return are_all_there;
}

/// Pods whose number is not wanted any more, the highest first. Whether none is left.
bool StatefulSet::condemn() {
  Order condemned;
  for (auto it = rows_.rbegin(); it != rows_.rend(); ++it)
    if (!std::ranges::binary_search(ordinals_, it->first))
      condemned.push_back(it->second);
  if (condemned.empty())
    return true;
  if (!rollout_.workload.parallel)
    condemned.resize(1);
  delete_pods(rollout_, condemned);
  find_slots();
  return false;
}

/// Whether none is to be deleted.
bool StatefulSet::delete_specified() {
  Order chosen;
  int64_t count = unavailable();
  for (const int64_t ordinal : ordinals_) {
    const auto row = row_of(ordinal);
    if (!row || !rollout_.rows[*row].is_specified)
      continue;
    const bool is_available = rollout_.rows[*row].is_available;
    if (is_available && count >= most_unavailable())
      continue;
    count += is_available ? 1 : 0;
    chosen.push_back(*row);
  }
  if (chosen.empty())
    return true;
  delete_pods(rollout_, chosen);
  find_slots();
  return false;
}

Order StatefulSet::waiting_order() {
  std::vector<OrdinalSlot> slots;
  for (const int64_t ordinal : ordinals_)
    if (const auto row = row_of(ordinal))
      slots.push_back({ordinal, *row});
  Order order = sort_ordinals(rollout_.workload, rollout_.rows, slots);
  std::erase_if(order, [&](uint32_t row) { return rollout_.rows[row].is_updated; });
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
  int64_t count = unavailable();
  Order anew;
  for (const uint32_t row : order) {
    const PodRow& pod = rollout_.rows[row];
    const bool is_available = pod.is_available;
    // Whether it is broken is not known before somebody looks at it.
    const bool is_unseen = rollout_.pod(row) != nullptr && rollout_.pod(row)->is_unseen;
    const bool waits = is_unseen || pod.lifecycle == Lifecycle::updated ||
                       pod.lifecycle == Lifecycle::preparing_delete ||
                       rollout_.attributes(row).at("state").at("update").bool_at("grace");
    if (waits || (is_available && count >= most_unavailable()))
      continue;
    switch (take_turn(rollout_, in_place_, row, target)) {
      case Turn::recreate:
        tell_recreated(rollout_, row, target);
        anew.push_back(row);
        count += is_available ? 1 : 0;
        break;
      case Turn::updates:
      case Turn::prepares:
        count += is_available ? 1 : 0;
        break;
      case Turn::held:
        break;
      case Turn::refused:
        return;
    }
  }
  if (!anew.empty())
    delete_pods(rollout_, anew);
}

}  // namespace

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
                    std::span<const OrdinalSlot> slots) {
  const int64_t partition = workload.partition ? workload.partition->number : 0;
  const int64_t most = workload.replicas - partition;
  Order order, waiting;
  if (most <= 0)
    return order;
  for (const OrdinalSlot& slot : std::views::reverse(slots)) {
    if (!workload.unordered && slot.ordinal < partition)
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
