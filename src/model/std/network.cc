/// Plugins for IP addresses. The types of their parameters have checked the arguments.

#include "base/text.h"
#include "model/std/address.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool give_address(PluginCall& call, const Address& address) {
  return call.give_text(to_string(address));
}

bool prefix_to_netmask(PluginCall& call) {
  const int64_t prefix = call.integer(0);
  if (prefix < 0 || prefix > 32)
    return call.fail(cat("ValueError: '255.255.255.255/", prefix,
                         "' does not appear to be an IPv4 or IPv6 interface"));
  const Interface interface{Address{}, static_cast<int>(prefix)};
  return give_address(call, {4, interface.mask(), {}});
}

bool prefix_length(PluginCall& call) {
  return call.give(Datum::of(static_cast<int64_t>(read_interface(call.text(0))->prefix)));
}

bool network_address(PluginCall& call) {
  const Interface interface = *read_interface(call.text(0));
  return give_address(call,
                      {interface.address.version, interface.address.number & interface.mask(), {}});
}

bool netmask(PluginCall& call) {
  const Interface interface = *read_interface(call.text(0));
  return give_address(call, {interface.address.version, interface.mask(), {}});
}

bool address_of_interface(PluginCall& call) {
  return give_address(call, read_interface(call.text(0))->address);
}

/// Python's message about a number that is no address.
std::string out_of_range(int version, bool is_negative, std::string_view number) {
  return cat("ipaddress.AddressValueError: ", number,
             is_negative ? " (< 0)" : cat(" (>= 2**", version == 4 ? 32 : 128, ")"),
             " is not permitted as an IPv", version, " address");
}

std::string decimal(Number128 number) {
  std::string digits;
  do
    digits.insert(0, 1, static_cast<char>('0' + static_cast<int>(number % 10)));
  while ((number /= 10) != 0);
  return digits;
}

bool add_to_ip(PluginCall& call) {
  const Address address = *read_address(call.text(0));
  const int64_t added = call.integer(1);
  const Number128 size =
      added < 0 ? Number128{0 - static_cast<uint64_t>(added)} : static_cast<uint64_t>(added);
  if (added < 0 && size > address.number)
    return call.fail(out_of_range(address.version, true, cat("-", decimal(size - address.number))));
  const Number128 sum = added < 0 ? address.number - size : address.number + size;
  if (added > 0 && (sum < size || (address.version == 4 && sum > 0xFFFFFFFFu)))
    return call.fail(
        out_of_range(address.version, false,
                     sum < size ? "340282366920938463463374607431768211456" : decimal(sum)));
  return give_address(call, {address.version, sum, {}});
}

/// The address at a position of a network; negative ones count from its end.
bool ip_index(PluginCall& call) {
  const Interface network = *read_interface(call.text(0));
  const int64_t position = call.integer(1);
  const Number128 last =
      network.address.number |
      (network.address.version == 4 ? 0xFFFFFFFFu & ~network.mask() : ~network.mask());
  const Number128 steps = position < 0 ? Number128{0 - static_cast<uint64_t>(position)} - 1
                                       : static_cast<uint64_t>(position);
  if (steps > last - network.address.number)
    return call.fail("IndexError: address out of range");
  const Number128 found = position < 0 ? last - steps : network.address.number + steps;
  const std::string text = to_string(Address{network.address.version, found, {}});
  return call.give_text(call[2].boolean ? cat(text, "/", network.prefix) : text);
}

constexpr std::array network_rows{
    PluginRow{"prefixlength_to_netmask", "(prefixlen: int) -> std::ipv4_address",
              prefix_to_netmask},
    PluginRow{"prefixlen", "(addr: std::ipv_any_interface) -> int", prefix_length},
    PluginRow{"network_address", "(addr: std::ipv_any_interface) -> std::ipv_any_address",
              network_address},
    PluginRow{"netmask", "(addr: std::ipv_any_interface) -> std::ipv_any_address", netmask},
    PluginRow{"ip_address_from_interface",
              "(ip_interface: std::ipv_any_interface) -> std::ipv_any_address",
              address_of_interface},
    PluginRow{"add_to_ip", "(addr: std::ipv_any_address, n: int) -> std::ipv_any_address",
              add_to_ip},
    PluginRow{"ipindex",
              "(addr: std::ipv_any_network, position: int, keep_prefix: bool = false) -> string",
              ip_index},
};

}  // namespace

std::span<const PluginRow> network_plugins() { return network_rows; }

}  // namespace fettle::model
