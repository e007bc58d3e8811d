#pragma once
/// Which store is meant: `--store`, else `$FETTLE_STORE`.

#include "cli/command.h"

namespace fettle {

/// The address of a shared store; empty: the file in the folder of fettle's state.
std::string store_meant(const CommandLine& parsed);
/// The same for an address that an argument gives: `file` is the file.
std::string store_named(const std::string& address);

}  // namespace fettle
