#pragma once
/// A dict that differs in some entries.

#include <initializer_list>
#include <string_view>

#include "value/value.h"

namespace fettle {

/// The dict with this entry, in place of one of its key.
Value with(const Value& dict, std::string_view key, Value value);
Value with(const Value& dict, std::initializer_list<Entry> more);

}  // namespace fettle
