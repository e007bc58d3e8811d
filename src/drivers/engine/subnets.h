#pragma once
/// Which IPv4 ranges are free. Fixed pools collide with the networks of offices and tunnels, so a
/// range is taken only after looking at what this machine routes and has addresses in.

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
  uint32_t address = 0;  ///< the first one, in the order of the host
  int prefix = 32;
  bool operator==(const Subnet&) const = default;
  uint32_t size() const { return prefix == 0 ? 0xFFFFFFFFu : uint32_t{1} << (32 - prefix); }
  bool overlaps(const Subnet& other) const;
  bool contains(uint32_t other) const;
};

std::string to_string(const Subnet& subnet);
std::string address_text(uint32_t address);
std::optional<uint32_t> parse_address(std::string_view text);
/// An address alone is a range of one.
std::optional<Subnet> parse_subnet(std::string_view text);

/// What this machine routes to or has an address in; loopback and the default route left out.
std::vector<Subnet> subnets_in_use();
/// The same from the text of `/proc/net/fib_trie`.
std::vector<Subnet> subnets_of_trie(std::string_view trie);

/// A range of that length below the first of `pools` that has one which overlaps nothing in
/// `taken`; the search in a pool begins at a place that `seed` gives, so that two who choose at
/// once seldom choose the same.
std::optional<Subnet> free_subnet(std::span<const Subnet> pools, int prefix,
                                  const std::vector<Subnet>& taken, uint64_t seed);

/// Where fettle's own networks come from: 10.64.0.0/10, which few others use. A tunnel that routes
/// all of 10.0.0.0/8 leaves the others, 172.16.0.0/12 and 192.168.0.0/16.
inline constexpr std::array own_pools{Subnet{0x0A400000u, 10}, Subnet{0xAC100000u, 12},
                                      Subnet{0xC0A80000u, 16}};

/// What to say when nothing of that length is left in them.
Error no_free_subnet(std::span<const Subnet> pools, int prefix);

}  // namespace fettle
