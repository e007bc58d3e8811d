#pragma once
/// Time zones of the system's database, read when they are asked for.

#include <string>
#include <string_view>
#include <vector>

namespace fettle::starlark {

struct Zone {
  std::string name;
  struct Change {
    long long from;  ///< seconds since 1970
    int offset;      ///< seconds east of UTC
    std::string abbreviation;
  };
  std::vector<Change> changes;  ///< the first holds from ever

  const Change& at(long long seconds) const;
};

/// None when there is no such zone. Zones live for ever.
const Zone* find_zone(std::string_view name);
const Zone* utc();

}  // namespace fettle::starlark
