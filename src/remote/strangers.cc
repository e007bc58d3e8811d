#include "remote/strangers.h"

#include <algorithm>

namespace fettle {

Entrance entrance_of(std::span<const Stranger> inside, const std::string& address, bool is_proxy,
                     const StrangerLimits& limits, std::chrono::steady_clock::time_point now) {
  const auto is_of_address = [&](const Stranger& one) { return one.address == address; };
  const bool has_its_part = !is_proxy && std::ranges::count_if(inside, is_of_address) >=
                                             static_cast<std::ptrdiff_t>(limits.of_address);
  if (!has_its_part && inside.size() < limits.inside)
    return {.is_open = true};
  const auto oldest = has_its_part ? std::ranges::find_if(inside, is_of_address) : inside.begin();
  if (oldest == inside.end() || now - oldest->since < limits.patience)
    return {};
  return {.is_open = true, .leaves = static_cast<size_t>(oldest - inside.begin())};
}

std::string address_without_port(const std::string& from) {
  std::string address = from.substr(0, from.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return address;
}

}  // namespace fettle
