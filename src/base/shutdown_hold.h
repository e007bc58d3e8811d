#pragma once
/// Marks work that must be ended when somebody leaves: the program waits for it a moment longer
/// than for the rest.

#include <atomic>

namespace fettle {

/// While one lives, something outside is being ended that would run on for ever without it.
class ShutdownHold {
 public:
  ShutdownHold() { ++under_way_; }
  ~ShutdownHold() { --under_way_; }
  ShutdownHold(const ShutdownHold&) = delete;
  ShutdownHold& operator=(const ShutdownHold&) = delete;
  static bool is_under_way() { return under_way_ > 0; }

 private:
  static inline std::atomic<int> under_way_{0};
};

}  // namespace fettle
