#include "states/wait_graph.h"

#include <algorithm>
#include <numeric>

namespace fettle::states {

void WaitGraph::add(uint32_t first, uint32_t second, bool is_same_wave) {
  edges_.push_back({first, second, is_same_wave});
}

std::vector<uint32_t> WaitGraph::waves() {
  waits_for_.assign(count_, 0);
  std::vector<uint32_t> begins(count_ + 1, 0), by_first(edges_.size());
  for (const Edge& edge : edges_) {
    ++waits_for_[edge.second];
    ++begins[edge.first + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
  for (uint32_t i = 0; i < edges_.size(); ++i)
    by_first[next[edges_[i].first]++] = i;

  std::vector<uint32_t> waves(count_, 0), ready;
  for (uint32_t node = 0; node < count_; ++node)
    if (waits_for_[node] == 0)
      ready.push_back(node);
  settled_ = 0;
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    ++settled_;
    for (uint32_t i = begins[node]; i < begins[node + 1]; ++i) {
      const Edge& edge = edges_[by_first[i]];
      waves[edge.second] =
          std::max(waves[edge.second], waves[node] + (edge.is_same_wave ? 0u : 1u));
      if (--waits_for_[edge.second] == 0)
        ready.push_back(edge.second);
    }
  }
  return waves;
}

}  // namespace fettle::states
