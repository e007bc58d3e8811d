#pragma once
/// The keys that the parts of a compose file may have. A misspelled key deep inside would otherwise
/// be ignored without a word.

#include <span>
#include <string_view>

#include "packages/compose/node.h"

namespace fettle::compose {

/// Error: a key that is not among the known ones and does not begin with `x-`.
Status check_keys(const Node& node, std::string_view of, std::span<const std::string_view> known);

/// Error: a key in a part of a service in its long form that compose does not know.
Status check_service_parts(const Node& service);
/// The same for volumes, networks, configs and secrets.
Status check_project_parts(const Node& document);

}  // namespace fettle::compose
