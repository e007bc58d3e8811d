#pragma once
/// Values that nobody may read, in the shape that they have.

#include <set>

#include "value/value.h"

namespace fettle {

/// The value with everything in it marked as a secret but what says nothing: null and truth values.
Value hidden(const Value& value);

/// The value with that hidden which stands at one of these names in any of its dicts.
Value hidden_at(const Value& value, const std::set<Name>& names);

}  // namespace fettle
