#pragma once
/// A value with some of what is neither a list nor a dict replaced, at any depth and without
/// recursion. What is inside of a secret stays a secret.

#include <functional>
#include <optional>

#include "value/value.h"

namespace fettle {

/// `replace` answers nothing for a leaf that stays. Parts without a change are shared with `value`.
Value with_leaves(const Value& value,
                  const std::function<std::optional<Value>(const Value& leaf)>& replace);

}  // namespace fettle
