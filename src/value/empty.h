#pragma once

#include "value/value.h"

namespace fettle {

/// Whether Python takes the value for false, numbers apart: null, false, an empty text, list or
/// dict.
inline bool is_empty(const Value& value) {
  return value.is_null() || (value.is_bool() && !value.boolean()) ||
         (value.is_text() && value.text().empty()) || (value.is_list() && value.items().empty()) ||
         (value.is_dict() && value.entries().empty());
}

}  // namespace fettle
