#pragma once
/// Binary operators, for syntax and arithmetic.

#include <cstdint>
#include <string_view>

namespace fettle::model {

enum class Operator : uint8_t {
  or_,
  and_,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  in,
  not_in,
};
std::string_view spelling(Operator op);

}  // namespace fettle::model
