#pragma once
/// Ends from outside: signals, and a reader of the output who goes away. Both become requests to an
/// `Interrupt`; a process that is asked to end at once and does not end in time is killed here,
/// with all children. The store is consistent at any moment, so nothing is lost.

#include <atomic>
#include <csignal>

#include "reconcile/loop.h"

namespace fettle {

/// SIGINT, SIGTERM and SIGHUP. While something is changed the first asks to finish and the second
/// to leave; else the first asks to leave. Threads that are started later have them blocked.
class Signals {
 public:
  explicit Signals(Interrupt& interrupt);
  /// Whether the first was SIGTERM: whoever runs until it is stopped has come to its end then.
  static bool is_ended() { return first_ == SIGTERM; }

 private:
  static std::atomic<int> first_;
};

/// Whether somebody still reads standard output. When nobody does, a command that ends with its
/// reader does so, quietly, as soon as it changes nothing; every other one finishes.
class OutputWatch {
 public:
  OutputWatch(Interrupt& interrupt, bool ends_with_reader);
  static bool is_closed();

 private:
  static std::atomic<bool> closed_;
};

/// The exit codes of who was interrupted, and of who has no reader any more, as shells tell
/// signals.
constexpr int code_of_interruption = 130, code_of_closed_output = 141;

}  // namespace fettle
