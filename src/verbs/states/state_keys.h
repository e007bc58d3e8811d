#pragma once
/// The keys by which states are remembered, and how a memory under another key moves to the key of
/// today.
///
/// A key has the ID of a state (`core/state_tag.h`). Before format 4 of the store it had the name,
/// as in memories of Idem before 25: those are upgraded as Idem does it, once. From then on a state
/// may still be known otherwise, as one of the `names` that its ID had, or when its path changed:
/// what is at the old path is left over.

#include <span>

#include "core/rename.h"
#include "core/state_tag.h"
#include "states/compiled_states.h"
#include "store/edit.h"
#include "workplace/state_of_key.h"

namespace fettle {

/// Idem's upgrade of a memory from version 1 to 2. A state that is alone under its ID is known by
/// the ID. Several come from `names`, and stay. Returns tags without functions, and only those that
/// change.
std::map<StateTag, StateTag> upgraded_tags(std::span<const StateTag> tags);

/// The same for records that an earlier fettle wrote.
Renames upgraded_keys(const Known& known);

/// The note of an environment whose records are not upgraded yet. Format 4 of the store writes it.
inline constexpr std::string_view states_by_name_note = "states_by_name";

/// The things that the states of today know by other keys.
Renames keys_of_today(const states::CompiledStates& compiled, const Name& environment,
                      const Known& known);

/// Renames records. Returns the changes for the store, which belong in one transaction.
std::vector<Change> rename_known(const Renames& renames, Known& known);

}  // namespace fettle
