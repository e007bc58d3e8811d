#pragma once
/// A command of a server: a child of the process that talks with its client, made by `fork` alone.
/// All that the program has read by then is there, so it begins in a millisecond, and a command that
/// dies takes nothing with it. What is a terminal at the client is one here.

#include <functional>
#include <string>

#include <sys/types.h>

#include "base/file.h"
#include "remote/request.h"

namespace fettle {

struct CommandChild {
  pid_t process = -1;
  Descriptor end;               ///< readable when it has ended
  Descriptor input;             ///< not open: it reads nothing, or what is typed at `terminal`
  Descriptor output, errors;    ///< those that are no terminal
  Descriptor terminal;          ///< the other side of its terminal
  bool input_is_typed = false;  ///< `input` is the terminal
};

/// Starts `run` in a process with these streams, variables and window, in `folder`. Its value is the
/// exit code. No thread may run.
Result<CommandChild> start_command(const CommandRequest& request, const std::string& folder,
                                   const std::function<int()>& run);

/// Whether whoever reads the terminal wants each key as it is typed.
bool is_raw(const CommandChild& child);
void set_window(const CommandChild& child, const WindowRows& window);

}  // namespace fettle
