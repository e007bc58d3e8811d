#pragma once
/// Amounts of processor time and memory as Kubernetes writes them: `100m`, `0.5`, `1Gi`, `128M`,
/// `12e6`.

#include <cstdint>
#include <optional>
#include <string_view>

#include "value/value.h"

namespace fettle {

/// In thousandths, rounded up, capped at 64 bits; none if the string is not an amount or is
/// negative.
std::optional<int64_t> quantity_milli(std::string_view text);
/// The same for a string or a number.
std::optional<int64_t> quantity_milli(const Value& value);

}  // namespace fettle
