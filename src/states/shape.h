#pragma once
/// What the parameters of built-in states take.

#include <string>

#include "value/value.h"

namespace fettle::states {

enum class Shape : uint8_t {
  any,
  text,  ///< not an empty one
  dict,
  list,
  seconds  ///< a number from 0 on, at most a year
};

/// `must be a list, not "x"`; empty when the value fits.
std::string complaint(Shape shape, const Value& given);

}  // namespace fettle::states
