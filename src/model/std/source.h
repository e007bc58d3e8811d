#pragma once
/// The model of `std`, which every project imports, and of its other namespaces.

#include <span>
#include <string_view>

namespace fettle::model {

struct StdSource {
  std::string_view space;
  std::string_view text;
};

/// `std` first.
std::span<const StdSource> std_sources();

}  // namespace fettle::model
