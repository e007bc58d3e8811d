#pragma once
/// Finds free IPv4 ranges. Fixed pools collide with the networks of offices and tunnels, so a range
/// is taken only after a look at this machine's routes and addresses.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle {

/// `10.64.4.0/22`
struct Subnet {
  uint32_t address = 0;  ///< the first one, in the byte order of the host
  int prefix = 32;
  bool operator==(const Subnet&) const = default;
  uint32_t size() const { return prefix == 0 ? 0xFFFFFFFFu : uint32_t{1} << (32 - prefix); }
  bool overlaps(const Subnet& other) const;
  bool contains(uint32_t other) const;
};

std::string to_string(const Subnet& subnet);
std::string address_text(uint32_t address);
std::optional<uint32_t> parse_address(std::string_view text);
/// A single address is a range of one.
std::optional<Subnet> parse_subnet(std::string_view text);

/// The ranges to which this machine has routes or in which it has addresses, without loopback and
/// the default route.
std::vector<Subnet> subnets_in_use();
/// The same from the text of `/proc/net/fib_trie`.
std::vector<Subnet> subnets_of_trie(std::string_view trie);

/// A range of that length in the first of `pools` that has one free of `taken`. The search in a
/// pool begins at a place that follows from `seed`, so that two who choose at once seldom choose
/// the same.
std::optional<Subnet> free_subnet(std::span<const Subnet> pools, int prefix,
                                  const std::vector<Subnet>& taken, uint64_t seed);

/// The ranges of fettle's own networks: 10.64.0.0/10, which few others use. If a tunnel routes all
/// of 10.0.0.0/8, the others are left, 172.16.0.0/12 and 192.168.0.0/16.
inline constexpr std::array own_pools{Subnet{0x0A400000u, 10}, Subnet{0xAC100000u, 12},
                                      Subnet{0xC0A80000u, 16}};

/// The error if no range of that length is left in them.
Error no_free_subnet(std::span<const Subnet> pools, int prefix);

}  // namespace fettle
