#pragma once
/// What differs between two states of a thing.

#include "value/value.h"

namespace fettle {

/// `{"old": {…}, "new": {…}}` of the keys that differ, dicts within dicts followed; a side that has
/// nothing is left out, so that no difference is an empty dict. What is no dict counts as an empty
/// one.
Value changes_between(const Value& before, const Value& after);

}  // namespace fettle
