#include "workloads/order.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace fettle::workloads {
namespace {

/// Sorts the latest first; a pod without a time comes before all.
int64_t newest_first(Time time) {
  return time == Time() ? std::numeric_limits<int64_t>::min() : -time.time_since_epoch().count();
}

int phase_number(Phase phase) {
  // A pod that has ended counts as pending, like every phase that is not in Kubernetes' table.
  return phase == Phase::unknown ? 1 : phase == Phase::running ? 2 : 0;
}

/// The keys by which one pod is ordered; the smaller comes first.
struct StateKeys {
  uint32_t first;  ///< node, phase, readiness, and the image if that comes early
  uint32_t pod;
  int64_t ready;
  int64_t created;
  int32_t restarts;
  bool lacks_image;
  uint64_t beginning, middle;  ///< of the name; enough for most comparisons
  std::string_view name;
};

/// Eight bytes of a text as a number that compares as they do.
uint64_t eight_bytes(std::string_view text, size_t from) {
  uint64_t number = 0;
  for (size_t i = from; i < from + 8; ++i)
    number = number << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  return number;
}

StateKeys keys_of(const PodRow& pod, uint32_t number, bool image_early) {
  StateKeys keys;
  keys.first = pod.node().empty() ? 0 : 1;
  keys.first = keys.first * 4 + static_cast<uint32_t>(phase_number(pod.phase));
  keys.first = keys.first * 2 + (pod.readiness == Readiness::not_ready ? 0 : 1);
  keys.first = keys.first * 2 + (image_early && !pod.has_image ? 1 : 0);
  keys.ready = pod.readiness == Readiness::not_ready ? 0 : newest_first(pod.ready_since);
  keys.restarts = -pod.restarts;
  keys.created = newest_first(pod.created);
  keys.lacks_image = !pod.has_image;
  keys.pod = number;
  keys.name = pod.name();
  keys.beginning = eight_bytes(keys.name, 0);
  keys.middle = eight_bytes(keys.name, 8);
  return keys;
}

bool is_before(const StateKeys& a, const StateKeys& b) {
  if (a.first != b.first)
    return a.first < b.first;
  if (a.ready != b.ready)
    return a.ready < b.ready;
  if (a.restarts != b.restarts)
    return a.restarts < b.restarts;
  if (a.created != b.created)
    return a.created < b.created;
  if (a.lacks_image != b.lacks_image)
    return b.lacks_image;
  if (a.beginning != b.beginning)
    return a.beginning < b.beginning;
  if (a.middle != b.middle)
    return a.middle < b.middle;
  return a.name < b.name;
}

/// The number at the end of a text. 0: there is none, or it is too long.
int64_t number_at_end(std::string_view text) {
  const size_t last = text.find_last_not_of("0123456789");
  const std::string_view digits = text.substr(last == text.npos ? 0 : last + 1);
  int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() ? number : 0;
}

struct PriorityKeys {
  int64_t level = 0;
  int64_t number = 0;
  bool operator<(const PriorityKeys& other) const {
    return level != other.level ? level < other.level : number > other.number;
  }
};

PriorityKeys priority_of(const Priority& priority, const Value& labels) {
  PriorityKeys keys;
  if (!priority.weights.empty()) {
    for (const Priority::Weight& each : priority.weights)
      if (each.selector.matches(labels))
        keys.number += each.weight;
    return keys;
  }
  for (size_t i = 0; i < priority.order_keys.size(); ++i)
    if (const Value& label = labels.at(priority.order_keys[i]); label.is_text())
      return {static_cast<int64_t>(i), number_at_end(label.text())};
  return {-1, 0};
}

bool matches(const ScatterTerm& term, const PodRow& pod) {
  const Value& label = pod.labels().at(term.key);
  return label.is_text() ? label.text() == term.value : term.value.empty();
}

/// How matching pods and others are combined, group by group.
struct Groups {
  size_t count = 0;
  size_t matching = 1;  ///< in a group
  size_t others = 1;
  size_t rest = 0;  ///< others that come before all groups
};

size_t rounded(size_t part, size_t whole) {
  return whole == 0 ? 0 : (2 * part + whole) / (2 * whole);
}

Groups groups_of(size_t matching, size_t others) {
  const size_t count = std::min(matching, others);
  return {count, rounded(matching, count), rounded(others, count), 0};
}

/// The density among all pods decides if it is lower than that among the candidates.
Groups groups_by_density(size_t all_matching, size_t all_others, size_t matching, size_t others) {
  const auto share = [](size_t part, size_t whole) {
    return static_cast<float>(part) / static_cast<float>(whole);
  };
  if (share(all_others, all_matching) >= share(others, matching))
    return groups_of(matching, others);
  Groups groups = groups_of(all_matching, all_others);
  groups.count = std::min(matching / groups.matching, others / groups.others);
  groups.rest = others - groups.count * groups.others;
  return groups;
}

void scatter_term(const ScatterTerm& term, std::span<const PodRow> pods, Order& candidates) {
  Order matching, others;
  for (const uint32_t pod : candidates)
    (matches(term, pods[pod]) ? matching : others).push_back(pod);
  if (matching.size() <= 1 || others.size() <= 1)
    return;
  size_t all_matching = 0;
  for (const PodRow& pod : pods)
    all_matching += matches(term, pod) ? 1 : 0;
  const uint32_t last = matching.back();
  matching.pop_back();
  const Groups groups = groups_by_density(all_matching - 1, pods.size() - all_matching,
                                          matching.size(), others.size());
  Order spread(others.begin(), others.begin() + static_cast<ptrdiff_t>(groups.rest));
  size_t next_matching = 0, next_other = groups.rest;
  const auto take = [&](const Order& from, size_t& next, size_t count) {
    for (; count > 0 && next < from.size(); --count)
      spread.push_back(from[next++]);
  };
  for (size_t i = 0; i < groups.count; ++i) {
    take(matching, next_matching, groups.matching);
    take(others, next_other, groups.others);
  }
  take(matching, next_matching, matching.size());
  take(others, next_other, others.size());
  spread.push_back(last);
  candidates = std::move(spread);
}

/// Ranks pods that share a node. The one that goes first has the highest rank, the last one has
/// none.
std::vector<double> crowd_ranks(std::span<const PodRow> pods, const Order& among) {
  std::unordered_map<Name, Order> on_node;
  for (const uint32_t pod : among)
    if (!pods[pod].node().empty())
      on_node[pods[pod].node()].push_back(pod);
  std::vector<double> ranks(pods.size(), 0);
  for (auto& [node, crowd] : on_node) {
    std::ranges::sort(crowd, [&](uint32_t a, uint32_t b) {
      const PodRow &x = pods[a], &y = pods[b];
      if (x.is_ready() == y.is_ready() && x.phase == y.phase && x.deletion_cost != y.deletion_cost)
        return x.deletion_cost < y.deletion_cost;
      return is_before(keys_of(x, a, false), keys_of(y, b, false));
    });
    for (size_t i = 0; i + 1 < crowd.size(); ++i)
      ranks[crowd[i]] = static_cast<double>(crowd.size() - 1 - i);
  }
  return ranks;
}

void sort_for_deletion(std::span<const PodRow> pods, Order& order) {
  const std::vector<double> ranks = crowd_ranks(pods, order);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const PodRow &x = pods[a], &y = pods[b];
    if (x.node().empty() != y.node().empty())
      return x.node().empty();
    if (phase_number(x.phase) != phase_number(y.phase))
      return phase_number(x.phase) < phase_number(y.phase);
    if (x.is_available != y.is_available)
      return !x.is_available;
    if (x.is_ready() != y.is_ready())
      return !x.is_ready();
    if (x.deletion_cost != y.deletion_cost)
      return x.deletion_cost < y.deletion_cost;
    if (ranks[a] != ranks[b])
      return ranks[a] > ranks[b];
    StateKeys first = keys_of(x, a, false), second = keys_of(y, b, false);
    first.lacks_image = second.lacks_image = false;
    return is_before(first, second);
  });
}

}  // namespace

void sort_by_state(std::span<const PodRow> pods, bool image_early, Order& candidates) {
  std::vector<StateKeys> keys;
  keys.reserve(candidates.size());
  for (const uint32_t pod : candidates)
    keys.push_back(keys_of(pods[pod], pod, image_early));
  std::ranges::sort(keys, is_before);
  for (size_t i = 0; i < keys.size(); ++i)
    candidates[i] = keys[i].pod;
}

void sort_by_priority(const Priority& priority, std::span<const PodRow> pods, Order& candidates) {
  if (priority.is_empty())
    return;
  std::vector<std::pair<PriorityKeys, uint32_t>> keys;
  keys.reserve(candidates.size());
  for (const uint32_t pod : candidates)
    keys.emplace_back(priority_of(priority, pods[pod].labels()), pod);
  std::ranges::stable_sort(keys, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < keys.size(); ++i)
    candidates[i] = keys[i].second;
}

void scatter(const std::vector<ScatterTerm>& terms, std::span<const PodRow> pods,
             Order& candidates) {
  if (candidates.size() <= 1)
    return;
  if (terms.size() == 1) {
    scatter_term(terms[0], pods, candidates);
    return;
  }
  // The term that most candidates match comes first.
  std::vector<std::pair<size_t, const ScatterTerm*>> counted;
  for (const ScatterTerm& term : terms) {
    size_t count = 0;
    for (const uint32_t pod : candidates)
      count += pods[pod].labels().at(term.key).is_text() && matches(term, pods[pod]) ? 1 : 0;
    if (count > 0)
      counted.emplace_back(count, &term);
  }
  std::ranges::stable_sort(counted, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [count, term] : counted)
    scatter_term(*term, pods, candidates);
}

void move_prepared_first(std::span<const PodRow> pods, Order& candidates) {
  std::ranges::stable_partition(
      candidates, [&](uint32_t pod) { return pods[pod].lifecycle == Lifecycle::preparing_update; });
}

void sort_for_update(const UpdateOrder& order, std::span<const PodRow> pods, Order& candidates) {
  sort_by_state(pods, order.image_early, candidates);
  sort_by_priority(order.priority, pods, candidates);
  scatter(order.scatter, pods, candidates);
  move_prepared_first(pods, candidates);
}

struct UpdateQueue::Keys : StateKeys {};

UpdateQueue::UpdateQueue() = default;
UpdateQueue::UpdateQueue(UpdateQueue&&) noexcept = default;
UpdateQueue& UpdateQueue::operator=(UpdateQueue&&) noexcept = default;
UpdateQueue::~UpdateQueue() = default;

UpdateQueue::UpdateQueue(const UpdateOrder& order, std::span<const PodRow> pods, Order candidates)
    : candidates_(std::move(candidates)) {
  // These put some pods between others, so all pods must be in order.
  if (!order.priority.is_empty() || !order.scatter.empty()) {
    sort_for_update(order, pods, candidates_);
    return;
  }
  keys_.reserve(candidates_.size());
  for (const uint32_t pod : candidates_) {
    Keys& keys = keys_.emplace_back(Keys{keys_of(pods[pod], pod, order.image_early)});
    if (pods[pod].lifecycle != Lifecycle::preparing_update)
      keys.first |= 1u << 31;
  }
}

UpdateQueue UpdateQueue::of(Order sorted) {
  UpdateQueue queue;
  queue.candidates_ = std::move(sorted);
  return queue;
}

bool UpdateQueue::is_before(size_t place, size_t other) const {
  return keys_.empty() ? place < other : workloads::is_before(keys_[place], keys_[other]);
}

Order UpdateQueue::first(size_t count, const std::function<bool(uint32_t)>& passes) const {
  Order places;
  for (uint32_t place = 0; place < size() && (!keys_.empty() || places.size() < count); ++place)
    if (passes(candidates_[place]))
      places.push_back(place);
  Order found(std::min(count, places.size()));
  if (keys_.empty())
    found = std::move(places);
  else
    std::ranges::partial_sort_copy(places, found,
                                   [&](uint32_t a, uint32_t b) { return is_before(a, b); });
  for (uint32_t& each : found)
    each = candidates_[each];
  return found;
}

Order chosen_for_deletion(std::span<const PodRow> pods, const Order& old, const Order& updated,
                          int64_t count, int64_t count_old) {
  const auto choose = [&](Order from, int64_t some) {
    if (some < static_cast<int64_t>(from.size())) {
      sort_for_deletion(pods, from);
      from.resize(static_cast<size_t>(std::max<int64_t>(some, 0)));
    }
    return from;
  };
  Order chosen = choose(old, std::min(count, count_old));
  const Order more = choose(updated, count - std::max<int64_t>(std::min(count, count_old), 0));
  chosen.insert(chosen.end(), more.begin(), more.end());
  return chosen;
}

int64_t deletion_cost_of(std::string_view text) {
  int32_t cost = 0;
  const bool begins_well =
      !text.empty() && (text[0] == '-' || text == "0" || (text[0] >= '1' && text[0] <= '9'));
  const auto read = std::from_chars(text.data(), text.data() + text.size(), cost);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return begins_well && is_whole ? cost : 0;
}

}  // namespace fettle::workloads
