#include "model/export/resource_id.h"

#include <charconv>

#include "base/text.h"

namespace fettle::model {
namespace {

bool is_type(std::string_view type) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  size_t words = 0;
  while (true) {
    const size_t end = std::min(type.find("::"), type.size());
    if (end == 0)
      return false;
    for (const char c : type.substr(0, end))
      if (!is_word(c))
        return false;
    ++words;
    if (end == type.size())
      return words >= 2;
    type.remove_prefix(end + 2);
  }
}

Error invalid(std::string_view text) {
  return user_error(cat("Invalid id for resource ", text.substr(0, 500)));
}

}  // namespace

std::optional<ResourceIdParts> split_resource_id(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos || close < open)
    return std::nullopt;
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  if (comma == inside.npos)
    return std::nullopt;
  const size_t equals = inside.find('=', comma);
  if (equals == inside.npos)
    return std::nullopt;
  return ResourceIdParts{text.substr(0, open), inside.substr(0, comma),
                         inside.substr(comma + 1, equals - comma - 1), inside.substr(equals + 1),
                         text.substr(close + 1)};
}

Result<ResourceId> parse_resource_id(std::string_view text) {
  const auto parts = split_resource_id(text);
  if (!parts)
    return invalid(text);
  ResourceId id{std::string(parts->type),
                std::string(parts->agent),
                std::string(parts->attribute),
                std::string(parts->value),
                {}};
  std::string_view rest = parts->rest;
  if (rest.starts_with(",v=")) {
    rest.remove_prefix(3);
    uint64_t version = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), version);
    if (code != std::errc() || end != rest.data() + rest.size())
      return invalid(text);
    id.version = version;
  } else if (!rest.empty()) {
    return invalid(text);
  }
  if (!check_resource_id(id))
    return invalid(text);
  return id;
}

std::string to_string(const ResourceId& id) {
  return cat(id.type, "[", id.agent, ",", id.attribute, "=", id.value, "]");
}

Status check_resource_id(const ResourceId& id) {
  if (!is_type(id.type))
    return user_error(cat("`", id.type, "` is not a resource type"));
  if (id.agent.empty() || id.agent.find(',') != id.agent.npos)
    return user_error(cat("the agent `", id.agent, "` must not be empty or contain a comma"));
  if (id.attribute.empty() || id.attribute.find_first_of("=,") != id.attribute.npos)
    return user_error(cat("the attribute `", id.attribute, "` cannot be in an id"));
  if (id.value.empty() || id.value.find(']') != id.value.npos)
    return user_error(cat("the value `", id.value, "` must not be empty or contain `]`"));
  return {};
}

}  // namespace fettle::model
