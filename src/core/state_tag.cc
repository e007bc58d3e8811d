#include "core/state_tag.h"

#include <array>

#include "base/text.h"

namespace fettle {

std::optional<StateTag> StateTag::parse(std::string_view text) {
  std::array<std::string_view, 4> parts;
  size_t count = 0;
  while (true) {
    const size_t at = text.find(separator);
    if (count == parts.size())
      return std::nullopt;
    parts[count++] = text.substr(0, at);
    if (at == text.npos)
      break;
    text.remove_prefix(at + separator.size());
  }
  if (count < 3 || parts[0].empty())
    return std::nullopt;
  return StateTag{parts[0], parts[1], parts[2] == parts[1] ? Name() : Name(parts[2]), parts[3]};
}

std::string StateTag::key() const { return cat(state, separator, id, separator, name()); }
std::string StateTag::memory() const { return cat(key(), separator); }
std::string StateTag::tag() const { return cat(key(), separator, function); }
std::string StateTag::beside(std::string_view what) const { return cat(key(), separator, what); }

bool is_tag_part(std::string_view text) {
  return text.find(StateTag::separator) == std::string_view::npos;
}

}  // namespace fettle
