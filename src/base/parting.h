#pragma once
/// What is ended when somebody leaves: the program waits for it a moment longer than for the rest.

#include <atomic>

namespace fettle {

/// While one lives, something outside is being ended that would run on for ever without it.
class Parting {
 public:
  Parting() { ++under_way_; }
  ~Parting() { --under_way_; }
  Parting(const Parting&) = delete;
  Parting& operator=(const Parting&) = delete;
  static bool is_under_way() { return under_way_ > 0; }

 private:
  static inline std::atomic<int> under_way_{0};
};

}  // namespace fettle
