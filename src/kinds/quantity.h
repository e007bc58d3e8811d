#pragma once
/// Amounts of processor time and memory as Kubernetes writes them: `100m`, `0.5`, `1Gi`, `128M`,
/// `12e6`.

#include <cstdint>
#include <optional>
#include <string_view>

#include "value/value.h"

namespace fettle {

/// In thousandths, rounded up, at most what 64 bits hold; none when the text is no amount or less
/// than nothing.
std::optional<int64_t> quantity_milli(std::string_view text);
/// The same of a text or a number.
std::optional<int64_t> quantity_milli(const Value& value);

}  // namespace fettle
