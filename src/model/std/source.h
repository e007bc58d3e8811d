#pragma once
/// The model of `std`, which every project imports.

#include <string_view>

namespace fettle::model {

std::string_view std_source();

}  // namespace fettle::model
