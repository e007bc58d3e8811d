#pragma once
/// The order of services, as Kurtosis makes it: first those that need none, by their names; then,
/// after each, those for which it was the last one that they needed, by their names.

#include "packages/compose/service.h"

namespace fettle::compose {

/// Errors: services that need each other, with the way around; two of one name.
Result<std::vector<Service>> in_order(std::vector<Service> services);

}  // namespace fettle::compose
