#pragma once
/// Finds the name that was meant, by the rule of starlark-go, so that the hints are the same.

#include <span>
#include <string_view>
#include <vector>

namespace fettle::starlark {

/// The first of the nearest candidates that differ from `word` in less than half of its letters,
/// ignoring case and underscores. Empty: there is none.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace fettle::starlark
