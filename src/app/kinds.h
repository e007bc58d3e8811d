#pragma once
/// Every type of resource that this program knows.

#include "core/kind.h"

namespace fettle {

/// The table of `kinds.cc`.
const Kinds& all_kinds();
/// The rows of the table, in order.
std::vector<const Kind*> listed_kinds();

}  // namespace fettle
