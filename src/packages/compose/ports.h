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

/// The ports that one entry stands for; those of a range are sorted as strings, as in compose.
/// Errors: it is not a port, or its ranges have different lengths.
Result<std::vector<PortForm>> read_port(std::string_view text);

}  // namespace fettle::compose
