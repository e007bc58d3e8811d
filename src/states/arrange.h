#pragma once
/// Applies what declarations say about one another, before they become low data: `extend`,
/// `exclude`, `names`, the inverse requisites (`require_in`) and `use`. After that, every body has
/// its name.

#include "states/high.h"

namespace fettle::states {

/// `is_partial`: there are blocks that wait, and they may bring what is not found.
void arrange(High& high, bool is_partial, Report& report);

}  // namespace fettle::states
