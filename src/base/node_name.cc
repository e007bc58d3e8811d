#include "base/node_name.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {

Status check_node_name(std::string_view name, std::string_view what) {
  constexpr size_t longest = 63;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool is_good =
      !name.empty() && name.size() <= longest &&
      std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '.'; }) &&
      is_plain(name.front()) && is_plain(name.back());
  if (is_good)
    return {};
  return user_error(cat("`", printable(clipped(name, longest)), "` is not a name for ", what,
                        ": use at most 63 lower case letters, digits, `-` and `.`, with a letter "
                        "or digit first and last"));
}

}  // namespace fettle
