#pragma once
/// JSON in tests: a text that is known to be right.

#include "value/json.h"

namespace fettle::kubernetes {

inline Value json(std::string_view text) { return *read_json(text); }

}  // namespace fettle::kubernetes
