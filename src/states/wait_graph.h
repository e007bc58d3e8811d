#pragma once
/// Who waits for whom, and the wave of each: those that wait for nothing are in the first, those
/// that wait only for these in the second, and so on.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fettle::states {

class WaitGraph {
 public:
  explicit WaitGraph(size_t count) : count_(static_cast<uint32_t>(count)) {}
  /// Adds a node beside the counted ones. When many wait for the same many, they can wait for one
  /// such node.
  uint32_t add_node() { return count_++; }
  /// `is_same_wave`: the second may come in the wave of the first.
  void add(uint32_t first, uint32_t second, bool is_same_wave = false);

  /// The wave of each node. Nodes in circles, and those that wait for them, stay stuck.
  std::vector<uint32_t> waves();
  bool is_stuck(uint32_t node) const { return waits_for_[node] > 0; }
  bool has_stuck() const { return settled_ < count_; }

 private:
  struct Edge {
    uint32_t first, second;
    bool is_same_wave;
  };
  uint32_t count_;
  std::vector<Edge> edges_;
  std::vector<uint32_t> waits_for_;  ///< how many of its waits have not ended
  size_t settled_ = 0;
};

}  // namespace fettle::states
