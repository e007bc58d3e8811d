#pragma once
/// The task that runs, one at a time, and for whom. All of it is set for a scope.

#include <utility>

#include "model/evaluate/task.h"

namespace fettle::model {

/// Gives a variable another value until the end of the scope.
template <typename T>
class ScopeGuard {
 public:
  ScopeGuard(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
  ~ScopeGuard() { variable_ = before_; }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  T& variable_;
  T before_;
};

struct Underway {
  Task* task = nullptr;
  Contributor by = 0;           ///< for whom it writes
  uint32_t depth = 0;           ///< of what made it
  uint32_t skipped_frames = 0;  ///< between where a name stands and where it is evaluated
  bool is_probing = false;      ///< neither waits nor constructs
  bool is_checking =
      false;  ///< the task is gone soon: it may count what it misses, nobody wakes it
};

}  // namespace fettle::model
