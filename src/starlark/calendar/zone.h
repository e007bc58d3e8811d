#pragma once
/// Time zones from the system's database, read when they are first needed.

#include <string>
#include <string_view>
#include <vector>

#include "starlark/calendar/zone_rule.h"

namespace fettle::starlark {

struct Zone {
  using Change = ZoneChange;
  std::string name;
  std::vector<Change> changes;  ///< the first holds from ever
  bool repeats = false;         ///< the last 400 years go on for ever

  const Change& at(long long seconds) const;
};

/// Null: there is no such zone. Zones live for ever.
const Zone* find_zone(std::string_view name);
const Zone* utc();

}  // namespace fettle::starlark
