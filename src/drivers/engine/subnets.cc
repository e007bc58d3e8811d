#include "drivers/engine/subnets.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

std::optional<uint32_t> number(std::string_view text, uint32_t largest) {
  uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value > largest)
    return {};
  return value;
}

uint32_t mask(int prefix) { return prefix == 0 ? 0 : ~uint32_t{0} << (32 - prefix); }

}  // namespace

bool Subnet::contains(uint32_t other) const { return (other & mask(prefix)) == address; }

bool Subnet::overlaps(const Subnet& other) const {
  return prefix <= other.prefix ? contains(other.address) : other.contains(address);
}

std::string address_text(uint32_t address) {
  return cat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".", address & 255);
}

std::string to_string(const Subnet& subnet) {
  return cat(address_text(subnet.address), "/", subnet.prefix);
}

std::optional<uint32_t> parse_address(std::string_view text) {
  const auto parts = split(text, '.');
  uint32_t address = 0;
  for (const std::string_view part : parts) {
    const auto byte = number(part, 255);
    if (!byte || parts.size() != 4)
      return {};
    address = address << 8 | *byte;
  }
  return address;
}

std::optional<Subnet> parse_subnet(std::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const auto address = parse_address(text.substr(0, slash));
  const auto prefix =
      slash == text.size() ? std::optional<uint32_t>(32) : number(text.substr(slash + 1), 32);
  if (!address || !prefix)
    return {};
  const int length = static_cast<int>(*prefix);
  return Subnet{*address & mask(length), length};
}

std::vector<Subnet> subnets_of_trie(std::string_view trie) {
  // A leaf is `|-- ADDRESS`, with a line `/LENGTH …` below it for each route.
  std::vector<Subnet> found;
  std::string_view leaf;
  for (const std::string_view line : split(trie, '\n')) {
    const std::string_view text = trim(line);
    if (text.starts_with("|-- ")) {
      leaf = text.substr(4);
    } else if (text.starts_with("/") && !leaf.empty()) {
      const auto subnet = parse_subnet(cat(leaf, text.substr(0, text.find(' '))));
      const bool real = subnet && subnet->prefix > 0 && subnet->address >> 24 != 127;
      if (real && std::ranges::find(found, *subnet) == found.end())
        found.push_back(*subnet);
    } else {
      leaf = {};
    }
  }
  return found;
}

std::vector<Subnet> subnets_in_use() {
  const auto trie = read_file("/proc/net/fib_trie");
  return trie ? subnets_of_trie(*trie) : std::vector<Subnet>();
}

std::optional<Subnet> free_subnet(std::span<const Subnet> pools, int prefix,
                                  const std::vector<Subnet>& taken, uint64_t seed) {
  for (const Subnet& pool : pools) {
    const uint64_t count = uint64_t{1} << (prefix - pool.prefix);
    for (uint64_t i = 0; i < count; ++i) {
      const auto place = static_cast<uint32_t>((seed + i) % count);
      const Subnet candidate{pool.address + (place << (32 - prefix)), prefix};
      if (std::ranges::none_of(taken, [&](const Subnet& used) { return used.overlaps(candidate); }))
        return candidate;
    }
  }
  return {};
}

Error no_free_subnet(std::span<const Subnet> pools, int prefix) {
  std::vector<std::string> names;
  for (const Subnet& pool : pools)
    names.push_back(to_string(pool));
  return world_error(
      cat("no address range (/", prefix, ") is free for a network in ", join(names, ", "),
          ": other networks of the engine and routes of this machine take them all; `fettle clean` "
          "removes stopped environments, `fettle enclave rm` others"));
}

}  // namespace fettle
