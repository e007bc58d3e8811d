#pragma once
/// What calls states for a server, for `src/app/acts.h`.

#include "verbs/states/states_away.h"
