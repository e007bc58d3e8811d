#include "reconcile/ready.h"

namespace fettle {

Ready::Ready(const Graph& graph)
    : graph_(&graph),
      standings_(graph.size(), Standing::open),
      has_answered_(graph.size(), 0),
      answers_(graph.size()),
      places_(graph.size()) {
  for (uint32_t i = 0; i < graph.size(); ++i)
    places_[graph.order()[i]] = i;
}

void Ready::carry_over(NodeId id, const Ready& before, NodeId then) {
  standings_[id] = before.standings_[then];
  has_answered_[id] = before.has_answered_[then];
  answers_[id] = before.answers_[then];
}

template <typename Visit>
void Ready::each_edge(const Visit& visit) const {
  for (NodeId id = 0; id < graph_->size(); ++id)
    for (const Edge& edge : graph_->needs(id))
      if (edge.node != no_node)
        visit(id, edge.node);
}

/// Builds one flat array: counts, adds up, fills.
void Ready::count() {
  const size_t size = graph_->size();
  open_needs_.assign(size, 0);
  dependants_begin_.assign(size + 1, 0);
  each_edge([&](NodeId, NodeId need) { ++dependants_begin_[need + 1]; });
  for (size_t i = 0; i < size; ++i)
    dependants_begin_[i + 1] += dependants_begin_[i];
  dependants_.assign(dependants_begin_[size], no_node);
  std::vector<uint32_t> next(dependants_begin_.begin(), dependants_begin_.end() - 1);
  each_edge([&](NodeId id, NodeId need) {
    dependants_[next[need]++] = id;
    open_needs_[id] += has_answered(need) ? 0 : 1;
  });
  for (const NodeId id : graph_->order())
    if (!waits(id) && standings_[id] == Standing::open)
      put(id);
}

NodeId Ready::take() {
  const uint32_t place = decidable_.top();
  decidable_.pop();
  return graph_->order()[place];
}

std::vector<NodeId> Ready::answer(NodeId id, Standing standing, Digest answer) {
  standings_[id] = standing;
  const bool is_known = std::exchange(has_answered_[id], 1) != 0;
  const bool is_same = std::exchange(answers_[id], answer) == answer;
  std::vector<NodeId> gone_on;
  if (is_known && is_same && deferred_.empty())
    return gone_on;
  for (uint32_t i = dependants_begin_[id]; i < dependants_begin_[id + 1]; ++i) {
    const NodeId dependant = dependants_[i];
    if (is_known ? deferred_.erase(dependant) != 0 : --open_needs_[dependant] == 0)
      put(dependant);
    else if (is_known && !is_same)
      gone_on.push_back(dependant);
  }
  return gone_on;
}

}  // namespace fettle
