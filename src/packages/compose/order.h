#pragma once
/// The order of services, as Kurtosis makes it: first those without needs, by name; then, after
/// each, those whose last need it was, by name.

#include "packages/compose/service.h"

namespace fettle::compose {

/// Errors: services that need each other, with the circle; two of one name.
Result<std::vector<Service>> in_order(std::vector<Service> services);

}  // namespace fettle::compose
