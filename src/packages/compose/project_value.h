#pragma once
/// A project as one value, to compare what was read here with what others read: `bench/differ
/// compose` and the recorded answers of the tests.

#include "packages/compose/project.h"

namespace fettle::compose {

/// Services by name; empty values and defaults are left out.
Value project_value(const Project& project);

}  // namespace fettle::compose
