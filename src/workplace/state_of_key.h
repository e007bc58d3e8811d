#pragma once
/// The state to which a key belongs.

#include <optional>

#include "core/record.h"
#include "core/state_tag.h"

namespace fettle {

/// The state that a key is about, or that it stands beside (`StateTag::beside`). None: there is no
/// such state.
std::optional<StateTag> state_of_key(const Key& key);

/// What the last run called a state: its name, or its path. Empty: nobody knows.
std::string_view name_of_state(const Key& key, const Record& record);

}  // namespace fettle
