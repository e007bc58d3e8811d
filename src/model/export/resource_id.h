#pragma once
/// Ids of exported resources: `type[agent,attribute=value]`, with `,v=3` behind it in a version.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle::model {

struct ResourceId {
  std::string type, agent, attribute, value;
  std::optional<uint64_t> version;
};

/// Errors (`Blame::user`): it is no id.
Result<ResourceId> parse_resource_id(std::string_view text);

/// Without a version.
std::string to_string(const ResourceId& id);

/// What makes the text of an id ambiguous: a comma in the agent, `=` in the attribute, `]` in the
/// value, nothing at all in any of them.
Status check_resource_id(const ResourceId& id);

}  // namespace fettle::model
