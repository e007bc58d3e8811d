#pragma once
/// `fettle exec`: a call of a function, here, on the machine of an agent, or on those of many.

#include "cli/command.h"

namespace fettle {

Result<int> state_exec(Face& face);

}  // namespace fettle
