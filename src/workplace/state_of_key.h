#pragma once
/// Which state a key is about.

#include <optional>

#include "core/record.h"
#include "core/state_tag.h"

namespace fettle {

/// The state that a key is about, or what is beside it (`StateTag::beside`); nothing: none.
std::optional<StateTag> state_of_key(const Key& key);

/// What the last run called a state: its name, or the path where it is; empty: nobody knows.
std::string_view name_of_state(const Key& key, const Record& record);

}  // namespace fettle
