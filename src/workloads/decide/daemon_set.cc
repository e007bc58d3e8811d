#include "workloads/decide/daemon_set.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/budget.h"
#include "workloads/decide/pre_download.h"
#include "workloads/names.h"
#include "workloads/place.h"
#include "workloads/pods/lifecycle.h"
#include "workloads/pods/new_pod.h"
#include "workloads/pods/update_pod.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

/// The pods on one node.
struct Place {
  const Node* node = nullptr;
  std::optional<uint32_t> updated, old;
  Order too_many;
};

/// Whether a pod shall run on a node, where one of its owner already is or is not.
bool is_for(const Value& spec, const Node& node, bool is_there) {
  return !node.is_draining && is_allowed_on(spec, node) && is_tolerated(spec, node, is_there);
}

class DaemonSet {
 public:
  explicit DaemonSet(Rollout& rollout) : rollout_(rollout), in_place_(rollout) {}

  void decide() {
    refresh_surroundings(rollout_);
    in_place_.refresh();
    refresh_lifecycles(rollout_);
    delete_deleted(rollout_);
    tidy();
    rollout_.keep_ended([&](const FleetPod& pod) { return places_.contains(pod.node); });
    create_missing();
    // Also for pods that the partition keeps, which change later.
    if (pre_downloads(rollout_))
      pre_download(rollout_, in_place_, UpdateQueue::of(rows_of(candidates())));
    if (rollout_.workload.type == UpdateType::rolling && !rollout_.workload.paused)
      most_surge() > 0 ? update_with_surge() : update();
    rollout_.settle_revisions();
  }

 private:
  void find_places();
  void tidy();
  void create_missing();
  bool create_on(const Node& node, const Revision& revision);
  bool has_ports(const Node& node, const Pod& pod);
  std::string free_name(int64_t& number) const;
  std::vector<const Place*> turns() const;
  std::vector<const Place*> candidates() const;
  static Order rows_of(const std::vector<const Place*>& places);
  void update();
  void update_with_surge();
  Budget budget() const;
  Order without_needed(const Order& pods) const;
  bool is_last_available(uint32_t row, const Order& going) const;
  std::set<uint32_t> nodes_of_leaving() const;
  int64_t most_unavailable() const;
  int64_t most_surge() const;
  bool is_available(const std::optional<uint32_t>& row) const {
    return row && rollout_.rows[*row].is_available;
  }
  bool is_available(const Place& place) const {
    return is_available(place.updated) || is_available(place.old);
  }

  Rollout& rollout_;
  InPlace in_place_;
  std::map<Name, Place> places_;
};

int64_t DaemonSet::most_surge() const {
  const auto& surge = rollout_.workload.max_surge;
  return surge ? surge->of(static_cast<int64_t>(places_.size()), true) : 0;
}

int64_t DaemonSet::most_unavailable() const {
  const int64_t most =
      rollout_.workload.max_unavailable.of(static_cast<int64_t>(places_.size()), true);
  return most == 0 && most_surge() == 0 ? 1 : most;
}

void DaemonSet::find_places() {
  places_.clear();
  const Value& spec = rollout_.update().pod_template.at("spec");
  std::set<Name> taken;
  for (const PodRow& row : rollout_.rows)
    taken.insert(row.node());
  for (const auto& [name, node] : rollout_.fleet.nodes())
    if (is_for(spec, node, taken.contains(name)))
      places_[name].node = &node;
  for (size_t row = 0; row < rollout_.size(); ++row) {
    const auto found = places_.find(rollout_.rows[row].node());
    if (found == places_.end())
      continue;
    auto& slot = rollout_.rows[row].is_updated ? found->second.updated : found->second.old;
    if (slot)
      found->second.too_many.push_back(static_cast<uint32_t>(row));
    else
      slot = static_cast<uint32_t>(row);
  }
}

/// Counts nodes, not pods: a node without an available pod counts as unavailable. A node that is
/// away does not, unless its pod was due to change already.
Budget DaemonSet::budget() const {
  const auto missing = std::ranges::count_if(places_, [&](const auto& each) {
    const Place& place = each.second;
    return !is_available(place) && (place.updated || !place.old || place.node->is_ready);
  });
  return Budget(most_unavailable() - missing);
}

/// Whether nothing available stays on its node if this pod goes with others.
bool DaemonSet::is_last_available(uint32_t row, const Order& going) const {
  for (uint32_t other = 0; other < rollout_.size(); ++other)
    if (other != row && rollout_.rows[other].node_number == rollout_.rows[row].node_number &&
        rollout_.rows[other].is_available && std::ranges::find(going, other) == going.end())
      return false;
  return true;
}

/// The pods of `pods` that may go now.
Order DaemonSet::without_needed(const Order& pods) const {
  Budget budget = this->budget();
  Order gone;
  for (const uint32_t row : pods) {
    const PodRow& pod = rollout_.rows[row];
    const bool is_needed = places_.contains(pod.node()) && is_last_available(row, gone);
    if (!is_needed || budget.take(pod))
      gone.push_back(row);
  }
  return gone;
}

/// Removes pods from nodes that shall have none, second pods of a node, and pods whose deletion was
/// asked for.
void DaemonSet::tidy() {
  find_places();
  Order gone;
  for (size_t row = 0; row < rollout_.size(); ++row)
    if (!places_.contains(rollout_.rows[row].node()) || rollout_.rows[row].is_specified ||
        rollout_.rows[row].lifecycle == Lifecycle::preparing_delete)
      gone.push_back(static_cast<uint32_t>(row));
  for (const auto& [name, place] : places_) {
    gone.insert(gone.end(), place.too_many.begin(), place.too_many.end());
    // An old pod stands beside a new one only while there is a surge.
    if (place.updated && place.old && (most_surge() == 0 || is_available(place.updated)))
      gone.push_back(*place.old);
  }
  std::ranges::sort(gone);
  gone.erase(std::ranges::unique(gone).begin(), gone.end());
  delete_pods(rollout_, without_needed(gone));
  find_places();
}

/// The numbers of the nodes on which a pod is on its way out.
std::set<uint32_t> DaemonSet::nodes_of_leaving() const {
  std::map<uint32_t, size_t> staying;
  for (const PodRow& row : rollout_.rows)
    ++staying[row.node_number];
  std::set<uint32_t> nodes;
  for (const FleetPod* pod : rollout_.owned.pods)
    if (auto& left = staying[pod->node_number]; left > 0)
      --left;
    else
      nodes.insert(pod->node_number);
  return nodes;
}

/// Whether nothing on the node holds a port that the new pod needs.
bool DaemonSet::has_ports(const Node& node, const Pod& pod) {
  if (rollout_.fleet.is_cluster)
    return true;
  const auto ports = host_ports_of(spec_to_place(rollout_, pod));
  const FleetPod* const holder = rollout_.fleet.port_holder(node.number, ports);
  if (holder == nullptr)
    return true;
  rollout_.lack_room(node.name,
                     cat("port ", to_string(*clash(ports, holder->ports)), " of node `", node.name,
                         "` is taken by pod ", holder->space, "/", holder->name),
                     holder->is_leaving);
  return false;
}

/// `number`: that of the last name that was made; it becomes this one's.
std::string DaemonSet::free_name(int64_t& number) const {
  std::string name;
  const auto is_taken = [&] {
    return std::ranges::any_of(rollout_.owned.pods,
                               [&](const FleetPod* pod) { return pod->name == name; });
  };
  do {
    name = cat(rollout_.workload.name, "-",
               short_id(cat(rollout_.owner, rollout_.life(), "#", ++number)));
  } while (is_taken());
  return name;
}

/// Makes a pod on a node. Returns whether the node has room for it.
bool DaemonSet::create_on(const Node& node, const Revision& revision) {
  const Value made = rollout_.memory("made");
  int64_t number = made.is_integer() ? made.integer().value_or(0) : 0;
  Pod pod = new_pod(rollout_, revision, free_name(number), {});
  if (!has_ports(node, pod))
    return false;
  rollout_.remember("made", number);
  rollout_.create(node.name, std::move(pod));
  return true;
}

void DaemonSet::create_missing() {
  int64_t under_way = 0;
  for (size_t row = 0; row < rollout_.size(); ++row)
    under_way += rollout_.pod(row) != nullptr && !rollout_.pod(row)->exists ? 1 : 0;
  // Until a rollout reaches a node, the node keeps the former revision.
  const auto count = static_cast<int64_t>(places_.size());
  const int64_t most_updated = count - rollout_.workload.kept(count);
  int64_t updated = 0;
  for (const auto& [name, place] : places_)
    updated += place.updated ? 1 : 0;
  const bool is_new = rollout_.current_index == rollout_.update_index;
  // Without a surge, a node never has more than one pod.
  const std::set<uint32_t> occupied = nodes_of_leaving();
  for (const auto& [name, place] : places_) {
    if (place.updated || place.old || !place.node->is_ready ||
        occupied.contains(place.node->number) || under_way >= rollout_.workload.burst)
      continue;
    const bool may_update = updated < most_updated;
    if (rollout_.workload.partitions_scaling && !may_update)
      continue;
    const bool gets_update = is_new || may_update;
    if (!create_on(*place.node, gets_update ? rollout_.update() : rollout_.current()))
      continue;
    updated += gets_update ? 1 : 0;
    ++under_way;
  }
  find_places();
}

/// The nodes whose pods may change sooner or later: first those that have begun to change, then the
/// others by name, the last one first. If nodes are selected, only those change.
std::vector<const Place*> DaemonSet::candidates() const {
  std::vector<const Place*> order, waiting;
  for (auto it = places_.rbegin(); it != places_.rend(); ++it) {
    const Place& place = it->second;
    if (place.updated || !place.old) {
      order.push_back(&place);
      continue;
    }
    const auto& selector = rollout_.workload.node_selector;
    if (!selector || selector->matches(place.node->labels))
      waiting.push_back(&place);
  }
  order.insert(order.end(), waiting.begin(), waiting.end());
  return order;
}

/// Of the candidates, a partition keeps some as they are.
std::vector<const Place*> DaemonSet::turns() const {
  std::vector<const Place*> order = candidates();
  const auto count = static_cast<int64_t>(places_.size());
  const int64_t most = count - rollout_.workload.kept(count);
  if (static_cast<int64_t>(order.size()) > most)
    order.resize(static_cast<size_t>(std::max<int64_t>(most, 0)));
  return order;
}

/// The pods that have the old revision there.
Order DaemonSet::rows_of(const std::vector<const Place*>& places) {
  Order order;
  for (const Place* place : places)
    if (place->old && !place->updated)
      order.push_back(*place->old);
  return order;
}

void DaemonSet::update() {
  const Revision& target = rollout_.update();
  Order order = rows_of(turns());
  mark_images(rollout_, in_place_, target, order);
  const MissingImages missing(rollout_, in_place_, target);
  std::erase_if(order, [&](uint32_t row) {
    return missing.hold(row) || is_on_lost_node(rollout_, in_place_, target, row);
  });
  Budget budget = this->budget();
  Order anew;
  for (const uint32_t row : order) {
    const PodRow pod = rollout_.rows[row];
    const bool waits = pod.lifecycle == Lifecycle::updated || is_in_grace(rollout_.attributes(row));
    if (waits || !budget.may_take(pod))
      continue;
    const Turn turn = take_turn(rollout_, in_place_, row, target);
    if (turn == Turn::recreate) {
      tell_recreated(rollout_, row, target);
      anew.push_back(row);
    }
    if (turn != Turn::refused)
      budget.take(pod);
  }
  if (anew.empty())
    return;
  delete_pods(rollout_, anew);
  find_places();
  create_missing();
}

/// A new pod comes beside the old one, which goes when the new one is available (`tidy`).
void DaemonSet::update_with_surge() {
  const Revision& target = rollout_.update();
  int64_t surge = 0;
  for (const auto& [name, place] : places_)
    surge += place.updated && place.old ? 1 : 0;
  for (const Place* place : turns()) {
    if (!place->old || place->updated)
      continue;
    const bool was_available = is_available(place->old);
    if ((was_available && surge >= most_surge()) || !create_on(*place->node, target))
      continue;
    surge += was_available ? 1 : 0;
    tell_recreated(rollout_, *place->old, target);
  }
}

}  // namespace

NodeCounts node_counts(const Rollout& rollout) {
  std::map<Name, NodeCounts> by_node;
  for (const PodRow& row : rollout.rows) {
    NodeCounts& counts = by_node[row.node()];
    counts.updated |= row.is_updated ? 1 : 0;
    counts.ready |= row.is_ready() ? 1 : 0;
    counts.available |= row.is_available ? 1 : 0;
  }
  NodeCounts all;
  const Value& spec = rollout.update().pod_template.at("spec");
  for (const auto& [name, node] : rollout.fleet.nodes()) {
    const auto found = by_node.find(name);
    if (!is_for(spec, node, found != by_node.end())) {
      all.misscheduled += found != by_node.end() ? 1 : 0;
      continue;
    }
    ++all.desired;
    if (found == by_node.end()) {
      if (!node.is_ready)
        all.away.push_back(name);
      continue;
    }
    ++all.current;
    all.updated += found->second.updated;
    all.ready += found->second.ready;
    all.available += found->second.available;
  }
  return all;
}

Wanted want_daemon_set(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  DaemonSet(rollout).decide();
  return rollout.finish();
}

}  // namespace fettle::workloads
