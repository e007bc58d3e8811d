#pragma once
/// Who works on an environment, for people. Whether the work goes on tells the lock that the holder
/// has, not this.

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fettle {

struct Holder {
  int64_t process = 0;
  std::string machine;  ///< its host name; empty: this one
  std::string what;     ///< for people: `fettle run examples/shop`
  Time since;
};

/// This process, as a holder.
Holder this_process(std::string what, Time now);

/// `fettle run shop` (process 12, since …)
std::string to_string(const Holder& holder);

}  // namespace fettle
