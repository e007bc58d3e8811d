#pragma once
/// What an action did belongs to an entry of the list of executed instructions, and not to its
/// place among equal ones of a package: [s, x], then [p, x], then [x, p, x] is one list of four
/// entries, and each of its two `x` has a record of its own.

#include "core/kind.h"
#include "packages/interpret.h"
#include "plan/overlap.h"

namespace fettle {

/// The names in the keys of the actions among `keys`: `exec/web#1f0c`.
std::vector<std::string> actions_of(std::span<const Key> keys, const Kinds& kinds);

/// Gives each action of the package the key of its entry. What the list does not have gets one that
/// no entry has which is kept; equal instructions whose entries have one record between them, as
/// the default resolver leaves it, are one action.
void name_by_entries(Package& package, const Kinds& kinds,
                     const std::vector<ListedInstruction>& executed, const Resolution& resolution);

}  // namespace fettle
