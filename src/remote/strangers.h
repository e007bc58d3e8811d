#pragma once
/// Who comes to a server and has not proved yet who he is. There is room for some, apart from that
/// of those who have, and one address gets a part of it. Who finds it full waits without a process;
/// one who has been inside for a while and has proved nothing goes in favour of him.

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"

namespace fettle {

struct StrangerLimits {
  size_t inside = 64;
  size_t of_address = 32;
  Duration patience = 2s;  ///< while somebody waits for his place
  size_t waiting = 512;    ///< more are not taken
  size_t waiting_of_address = 384;
};

struct Stranger {
  std::string address;  ///< without a port
  std::chrono::steady_clock::time_point since{};
};

struct Entrance {
  bool is_open = false;
  std::optional<size_t> leaves{};  ///< which of those inside has to
};

/// Whether one more may come in from an address. `inside`: the oldest first. `is_proxy`: the address
/// is that of many.
Entrance entrance_of(std::span<const Stranger> inside, const std::string& address, bool is_proxy,
                     const StrangerLimits& limits, std::chrono::steady_clock::time_point now);

/// `10.0.0.1` of `10.0.0.1:40000`, and `::1` of `[::1]:40000`.
std::string address_without_port(const std::string& from);

}  // namespace fettle
