#pragma once
/// Who works on an environment, for people. Whether the work goes on is told by the lock, not by
/// this.

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fettle {

struct Holder {
  /// What it is to others. A controller carries out what they wish, and they only wait for it.
  enum class Role { command, controller };
  int64_t process = 0;
  std::string machine;  ///< its host name; empty: this machine
  std::string what;     ///< for people: `fettle run examples/shop`
  Time since;
  Role role = Role::command;
};

/// Describes this process as a holder.
Holder this_process(std::string what, Time now, Holder::Role role = Holder::Role::command);

/// `fettle run shop` (process 12, since …)
std::string to_string(const Holder& holder);

}  // namespace fettle
