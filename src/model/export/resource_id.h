#pragma once
/// Ids of exported resources: `type[agent,attribute=value]`, followed by `,v=3` in a version.

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

/// Parts of a text, which must outlive them. `rest`: behind the bracket.
struct ResourceIdParts {
  std::string_view type, agent, attribute, value, rest;
};

/// None: the text does not have the form of an id. The parts are not checked.
std::optional<ResourceIdParts> split_resource_id(std::string_view text);

/// Errors (`Blame::user`): the text is not an id.
Result<ResourceId> parse_resource_id(std::string_view text);

/// Without a version.
std::string to_string(const ResourceId& id);

/// Refuses what makes the text of an id ambiguous: a comma in the agent, `=` in the attribute, `]`
/// in the value, or an empty part.
Status check_resource_id(const ResourceId& id);

}  // namespace fettle::model
