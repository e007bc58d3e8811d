#include "core/environment_name.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {

Status check_environment_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!name.empty() && name.size() <= 60 && plain && name.front() != '-' && name.front() != '.')
    return {};
  return user_error(cat("environment name `", name,
                        "` is invalid: it must have only letters, digits, `-`, `_` and `.`, start "
                        "with a letter, a digit or `_`, and have at most 60 characters"));
}

}  // namespace fettle
