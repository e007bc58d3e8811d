#pragma once
/// Pages for `man`, made from what the program knows of its commands.

#include "cli/command.h"

namespace fettle {

/// `fettle.1`: all commands, the flags of every one, exit codes, variables.
std::string man_page(const std::vector<Command>& commands, std::string_view version);
/// `fettle-enclave-ls.1`.
std::string man_page(const Command& command, std::string_view version);
/// `fettle-enclave-ls`
std::string man_name(const Command& command);

}  // namespace fettle
