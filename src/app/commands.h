#pragma once
/// Every command of the program, in the order of the manual.

#include "cli/command.h"

namespace fettle {

const std::vector<Command>& all_commands();

}  // namespace fettle
