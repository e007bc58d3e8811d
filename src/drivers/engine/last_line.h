#pragma once
/// The last line that a command or task has written so far, for a user who waits.

#include <thread>

#include "drivers/engine/containers.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Reports the last line that is not blank, at most ten times a second.
class LastLine {
 public:
  /// `progress` must outlive it; it may be empty.
  explicit LastLine(const ProgressSink& progress) : progress_(progress) {}
  void take(std::string_view bytes);

 private:
  const ProgressSink& progress_;
  std::string line_;  ///< as far as it has arrived
  std::chrono::steady_clock::time_point told_{};
};

/// Follows the output of a container from a moment after its start, until this object ends.
class OutputTail {
 public:
  /// All arguments must outlive it.
  OutputTail(const Site& site, const std::string& container, const ProgressSink& progress);

 private:
  std::jthread thread_;
};

}  // namespace fettle
