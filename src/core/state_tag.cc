#include "core/state_tag.h"

#include <array>

#include "base/text.h"

namespace fettle {
namespace {

using Parts = std::array<std::string_view, 4>;

std::optional<Parts> parts_of(std::string_view text) {
  Parts parts;
  size_t count = 0;
  while (true) {
    const size_t at = text.find(StateTag::separator);
    if (count == parts.size())
      return std::nullopt;
    parts[count++] = text.substr(0, at);
    if (at == text.npos)
      break;
    text.remove_prefix(at + StateTag::separator.size());
  }
  return count < 3 || parts[0].empty() ? std::nullopt : std::optional(parts);
}

}  // namespace

std::optional<StateTag> StateTag::parse(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text);
  if (!parts)
    return std::nullopt;
  const auto& [state, id, name, function] = *parts;
  return StateTag{state, id, name == id ? Name() : Name(name), function};
}

std::string StateTag::reference_in(std::string_view tag) {
  const auto [state, id, name, function] = parts_of(tag).value_or(Parts());
  return cat(state, ".", function);
}

std::string StateTag::key() const { return cat(state, separator, id, separator, name()); }
std::string StateTag::memory() const { return cat(key(), separator); }
std::string StateTag::tag() const { return cat(key(), separator, function); }
std::string StateTag::beside(std::string_view what) const { return cat(key(), separator, what); }

std::string StateTag::shown() const {
  return cat(state, ":", id, entry.empty() ? "" : cat("[", entry, "]"),
             function.empty() ? "" : cat(" (", function, ")"));
}

bool is_tag_part(std::string_view text) {
  return text.find(StateTag::separator) == std::string_view::npos;
}

}  // namespace fettle
