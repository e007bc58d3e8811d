#pragma once
/// A run of states that changes nothing, for `--test`.

#include "core/kind.h"

namespace fettle {

/// The resources that only an act can look at, with the needs among them. For all others, what is
/// seen says it all, and a plan reports it.
std::shared_ptr<const Intent> looks_of(const Intent& intent, const Kinds& kinds);

}  // namespace fettle
