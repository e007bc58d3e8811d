#pragma once
/// Every command of the program, in the order of the manual.

#include "cli/command.h"

namespace fettle {

const std::vector<Command>& all_commands();

/// The help of one command, as text or as a document.
void print_help(const Face& face, const Command& command);

/// Whether a command ends as soon as nobody reads its output: one that only tells something, or
/// goes on until somebody ends it. Others finish what they were asked for.
bool ends_with_reader(const Command& command);

/// Whether a command only reads files, so that it does without what is kept on this machine.
bool needs_no_state(const Command& command, const Parsed& parsed);

}  // namespace fettle
