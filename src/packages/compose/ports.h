#pragma once
/// The forms of a service's `ports`: `80`, `8080:80`, `127.0.0.1:8080-8082:80-82/udp`, or a mapping.

#include <string>
#include <vector>

#include "base/result.h"

namespace fettle::compose {

struct PortForm {
  int target = 0;
  std::string published{};  ///< `8080`, a range of which one is taken, or empty
  std::string address{};    ///< of this machine; empty: not said
  std::string protocol = "tcp";
};

/// What one entry stands for: a range is several ports, in the order of compose, by their letters.
/// Errors: what is no port, ranges of different lengths.
Result<std::vector<PortForm>> read_port(std::string_view text);

}  // namespace fettle::compose
