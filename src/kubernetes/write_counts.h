#pragma once
/// How many writes were sent, by their urgency and by what came of them. Safe from many threads at
/// once.

#include <map>
#include <mutex>
#include <utility>

#include "kubernetes/request_budget.h"

namespace fettle::kubernetes {

class WriteCounts {
 public:
  /// An urgency, and the code of the answer; 0: there was none.
  using Outcome = std::pair<Urgency, int>;

  void add(Urgency urgency, int code) {
    const std::lock_guard lock(mutex_);
    ++counts_[{urgency, code}];
  }
  std::map<Outcome, uint64_t> all() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Outcome, uint64_t> counts_;
};

}  // namespace fettle::kubernetes
