#pragma once
/// An action belongs to an entry in the list of executed instructions, and not to its place among
/// equal instructions of a package: [s, x], then [p, x], then [x, p, x] is one list of four
/// entries, and each of its two `x` has its own record.

#include "core/kind.h"
#include "packages/interpret.h"
#include "plan/overlap.h"

namespace fettle {

/// The names of the actions among `keys`, as `exec/web#1f0c`.
std::vector<std::string> actions_of(std::span<const Key> keys, const Kinds& kinds);

/// Gives each action of the package the key of its entry. An action that is not in the list gets a
/// key that no kept entry has. Equal instructions whose entries share one record, as the default
/// resolver leaves it, are one action.
void name_by_entries(Package& package, const Kinds& kinds,
                     const std::vector<ListedInstruction>& executed, const Resolution& resolution);

}  // namespace fettle
