#include "base/difference.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {

std::pair<std::string, std::string> clipped_at_difference(std::string_view a, std::string_view b,
                                                          size_t longest) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto same = static_cast<size_t>(differ.first - a.begin());
  // The text around the difference shows its place.
  size_t begin = same < longest / 2 ? 0 : same - longest / 4;
  while (begin > 0 && (static_cast<unsigned char>(a[begin]) & 0xC0) == 0x80)
    --begin;
  const auto part = [&](std::string_view text) {
    return text.size() <= longest ? std::string(text)
           : begin == 0           ? clipped(text, longest)
                                  : cat("…", clipped(text.substr(begin), longest));
  };
  return {part(a), part(b)};
}

}  // namespace fettle
