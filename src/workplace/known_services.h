#pragma once
/// The services that exist, as far as records tell.

#include <set>

#include "core/kind.h"

namespace fettle {

/// Services that a package or somebody else removed; only their records are left.
std::set<Key> removed_services(const Known& known, const Kinds& kinds);

/// The records of the services that nobody removed, by name.
std::vector<RecordPointer> services_there(const Known& known, const Kinds& kinds);

}  // namespace fettle
