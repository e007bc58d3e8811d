#pragma once
/// When a state is called again, and for how long.

#include "core/resource.h"
#include "states/settings.h"

namespace fettle::states {

/// Gives a resource the pace that a wait asks for.
void set_pace(const WaitRule& rule, Resource& resource);

/// Adds what `reconcile` and `__reconcile_wait__` of a state ask for.
void add_pace(const Settings& settings, Resource& resource);

/// Allows this many calls, whatever the failure.
void try_again(const Retry& retry, Resource& resource);

}  // namespace fettle::states
