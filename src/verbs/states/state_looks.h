#pragma once
/// A run of states that changes nothing, for `--test`.

#include "core/kind.h"

namespace fettle {

/// What has to be looked at by an act, with the needs among it. What is seen of all else says it
/// all; that is told by a plan.
std::shared_ptr<const Intent> looks_of(const Intent& intent, const Kinds& kinds);

}  // namespace fettle
