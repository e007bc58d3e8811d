#pragma once
/// A project as one value, for comparing what was read with what others read: `bench/differ compose`
/// and the recorded answers of the tests.

#include "packages/compose/project.h"

namespace fettle::compose {

/// Services by name; what is empty or as it would be without a word is left out.
Value project_value(const Project& project);

}  // namespace fettle::compose
