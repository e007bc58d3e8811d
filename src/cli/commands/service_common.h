#pragma once
/// What the commands about services share.

#include "cli/command.h"
#include "verbs/inside.h"

namespace fettle {

/// Writes to stdout or stderr as it comes. An error when nobody reads it any more.
Status to_terminal(OutputStream stream, std::string_view bytes);

Command logs_command();

}  // namespace fettle
