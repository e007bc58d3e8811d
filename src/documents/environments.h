#pragma once
/// Environments as a whole.

#include "verbs/environments/environments.h"
#include "workplace/orphans.h"

namespace fettle {

Value environment_value(const Environment& environment);
Value orphan_values(const std::vector<Orphan>& orphans);

}  // namespace fettle
