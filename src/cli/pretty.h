#pragma once
/// Values as Python shows them: Idem's outputs `raw`, `pretty` and `nested`.

#include <string>

#include "value/value.h"

namespace fettle {

/// `repr` of the value.
std::string python_text(const Value& value);

/// A value in lines, deeper ones indented by two; `depth` is that of the whole. What is deeper than
/// a file may be is one line.
std::string nested_text(const Value& value, int depth = 0);

/// The value as `pprint` lays it out: 80 columns wide, keys sorted, long texts cut between words.
std::string pretty_text(const Value& value);

}  // namespace fettle
