#pragma once
/// Who works on an environment, for people. The lock, not this, tells whether the work goes on.

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fettle {

struct Holder {
  /// Its role towards others. A controller carries out their wishes, and they only wait for it.
  enum class Role { command, controller };
  int64_t process = 0;
  std::string machine;  ///< its host name; empty: this machine
  std::string what;     ///< for people: `fettle run examples/shop`
  Time since;
  Role role = Role::command;

  friend bool operator==(const Holder&, const Holder&) = default;
};

/// Describes this process as a holder.
Holder this_process(std::string what, Time now, Holder::Role role = Holder::Role::command);

/// `fettle run shop` (process 12, since …)
std::string to_string(const Holder& holder);

}  // namespace fettle
