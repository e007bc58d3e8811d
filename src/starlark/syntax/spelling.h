#pragma once
/// Which name was meant: the rule of starlark-go, so that its hints come and no others.

#include <span>
#include <string_view>
#include <vector>

namespace fettle::starlark {

/// The first of the nearest candidates that differ from `word` in less than half of its letters,
/// case and underscores aside; empty when there is none.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace fettle::starlark
