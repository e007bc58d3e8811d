#pragma once
/// IP addresses, interfaces and networks as Python's `ipaddress` reads and writes them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fettle::model {

__extension__ using Number128 = unsigned __int128;

/// Version 4 or 6; the number has 32 or 128 bits.
struct Address {
  int version = 4;
  Number128 number = 0;
  std::string scope;  ///< of version 6, after `%`

  int bits() const { return version == 4 ? 32 : 128; }
};

/// An address with the length of its network's prefix.
struct Interface {
  Address address;
  int prefix = 0;

  Number128 mask() const;
  bool is_network() const { return (address.number & ~mask()) == 0; }
};

std::optional<Address> read_address(std::string_view text);
/// `address`, `address/prefix`, `address/netmask` or (version 4) `address/hostmask`.
std::optional<Interface> read_interface(std::string_view text);

std::string to_string(const Address& address);

}  // namespace fettle::model
