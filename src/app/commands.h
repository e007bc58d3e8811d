#pragma once
/// Every command of the program, in the order of the manual.

#include "cli/command.h"

namespace fettle {

const std::vector<Command>& all_commands();

/// The help of one command, as text or as a document.
void print_help(const Face& face, const Command& command);

}  // namespace fettle
