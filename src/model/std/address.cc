#include "model/std/address.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace fettle::model {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::optional<Number128> read_four(std::string_view text) {
  const std::vector<std::string_view> octets = split(text, '.');
  if (octets.size() != 4)
    return std::nullopt;
  Number128 number = 0;
  for (const std::string_view octet : octets) {
    if (!is_digits(octet) || octet.size() > 3 || (octet.size() > 1 && octet[0] == '0'))
      return std::nullopt;
    unsigned value = 0;
    std::from_chars(octet.data(), octet.data() + octet.size(), value);
    if (value > 255)
      return std::nullopt;
    number = number << 8 | value;
  }
  return number;
}

/// Reads the groups on one side of `::`. False: one is no group.
bool read_groups(std::string_view text, std::vector<unsigned>& groups) {
  if (text.empty())
    return true;
  const std::vector<std::string_view> pieces = split(text, ':');
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    if (i + 1 == pieces.size() && piece.find('.') != piece.npos) {
      const std::optional<Number128> four = read_four(piece);
      if (!four)
        return false;
      groups.push_back(static_cast<unsigned>(*four >> 16));
      groups.push_back(static_cast<unsigned>(*four & 0xFFFF));
      continue;
    }
    unsigned value = 0;
    const auto read = std::from_chars(piece.data(), piece.data() + piece.size(), value, 16);
    if (piece.empty() || piece.size() > 4 || read.ptr != piece.data() + piece.size())
      return false;
    groups.push_back(value);
  }
  return true;
}

std::optional<Number128> read_six(std::string_view text) {
  const size_t gap = text.find("::");
  std::vector<unsigned> head;
  std::vector<unsigned> tail;
  const bool has_gap = gap != text.npos;
  if (has_gap && text.find("::", gap + 1) != text.npos)
    return std::nullopt;
  if (!has_gap && text.empty())
    return std::nullopt;
  if (!read_groups(text.substr(0, gap), head) ||
      (has_gap &&
       (text.substr(0, gap).find('.') != text.npos || !read_groups(text.substr(gap + 2), tail))))
    return std::nullopt;
  const size_t count = head.size() + tail.size();
  if (has_gap ? count > 7 : count != 8)
    return std::nullopt;
  head.insert(head.end(), 8 - count, 0);
  head.insert(head.end(), tail.begin(), tail.end());
  Number128 number = 0;
  for (const unsigned group : head)
    number = number << 16 | group;
  return number;
}

Number128 mask_of(int bits, int prefix) {
  const Number128 all = bits == 32 ? Number128{0xFFFFFFFF} : ~Number128{0};
  return prefix == 0 ? 0 : all & (all << (bits - prefix));
}

std::optional<int> read_prefix(std::string_view text, const Address& address) {
  if (is_digits(text)) {
    int prefix = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), prefix);
    return read.ec == std::errc() && prefix <= address.bits() ? std::optional(prefix)
                                                              : std::nullopt;
  }
  const std::optional<Number128> mask = address.version == 4 ? read_four(text) : std::nullopt;
  if (!mask)
    return std::nullopt;
  const Number128 all = 0xFFFFFFFF;
  for (int prefix = 0; prefix <= 32; ++prefix)
    if (mask_of(32, prefix) == *mask)
      return prefix;
  for (int prefix = 0; prefix <= 32; ++prefix)
    if ((all & ~mask_of(32, prefix)) == *mask)
      return prefix;
  return std::nullopt;
}

std::string text_of_four(Number128 number) {
  return cat(static_cast<unsigned>(number >> 24 & 255), ".",
             static_cast<unsigned>(number >> 16 & 255), ".",
             static_cast<unsigned>(number >> 8 & 255), ".", static_cast<unsigned>(number & 255));
}

std::string text_of_six(Number128 number) {
  unsigned groups[8];
  for (int i = 7; i >= 0; --i, number >>= 16)
    groups[i] = static_cast<unsigned>(number & 0xFFFF);
  int best = -1;
  int longest = 1;
  for (int start = 0; start < 8; ++start) {
    int end = start;
    while (end < 8 && groups[end] == 0)
      ++end;
    if (end - start > longest) {
      best = start;
      longest = end - start;
    }
  }
  std::string made;
  for (int i = 0; i < 8; ++i) {
    if (i == best) {
      made += "::";
      i += longest - 1;
      continue;
    }
    if (!made.empty() && !made.ends_with(':'))
      made.push_back(':');
    char buffer[8];
    made.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, groups[i], 16).ptr);
  }
  return made;
}

}  // namespace

Number128 Interface::mask() const { return mask_of(address.bits(), prefix); }

std::optional<Address> read_address(std::string_view text) {
  if (const std::optional<Number128> four = read_four(text))
    return Address{4, *four, {}};
  const size_t percent = text.find('%');
  const std::string_view scope =
      percent == text.npos ? std::string_view() : text.substr(percent + 1);
  if (percent != text.npos && (scope.empty() || scope.find_first_of("%/") != scope.npos))
    return std::nullopt;
  const std::optional<Number128> six = read_six(text.substr(0, percent));
  return six ? std::optional(Address{6, *six, std::string(scope)}) : std::nullopt;
}

std::optional<Interface> read_interface(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<Address> address = read_address(text.substr(0, slash));
  if (!address)
    return std::nullopt;
  if (slash == text.npos)
    return Interface{*address, address->bits()};
  const std::optional<int> prefix = read_prefix(text.substr(slash + 1), *address);
  return prefix ? std::optional(Interface{*address, *prefix}) : std::nullopt;
}

std::string to_string(const Address& address) {
  if (address.version == 4)
    return text_of_four(address.number);
  return cat(text_of_six(address.number), address.scope.empty() ? "" : "%", address.scope);
}

}  // namespace fettle::model
