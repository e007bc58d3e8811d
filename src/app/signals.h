#pragma once
/// Ends from outside: signals, and a reader of the output that goes away. Both become requests to
/// an `Interrupt`. A process that has to end at once and does not end in time is killed here, with
/// all its children. The store is consistent at any moment, so nothing is lost.

#include <atomic>
#include <csignal>

#include "reconcile/loop.h"

namespace fettle {

/// Handles SIGINT, SIGTERM and SIGHUP. While something is changed, the first one asks to finish and
/// the second to leave; otherwise the first one asks to leave. Threads that start later have them
/// blocked.
class Signals {
 public:
  explicit Signals(Interrupt& interrupt);
  /// Whether the first was SIGTERM: for a program that runs until it is stopped, that is the proper
  /// end.
  static bool is_ended() { return first_ == SIGTERM; }

 private:
  static std::atomic<int> first_;
};

/// Watches whether somebody still reads standard output. If nobody does, a command that ends with
/// its reader does so, quietly, as soon as it changes nothing. Every other command finishes.
class OutputWatch {
 public:
  OutputWatch(Interrupt& interrupt, bool ends_with_reader);
  static bool is_closed();

 private:
  static std::atomic<bool> closed_;
};

/// The exit codes after an interruption and after the loss of the reader, as shells report signals.
constexpr int code_of_interruption = 130, code_of_closed_output = 141;

}  // namespace fettle
