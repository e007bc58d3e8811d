#pragma once
/// What each command needs of whoever has a server run it: one table, beside that of the commands.
/// A command without a row is refused to every token but those that may do everything, and a test
/// fails.

#include "cli/command.h"
#include "remote/session.h"

namespace fettle {

/// How the words of a command say which environment it concerns.
enum class EnvironmentRule : uint8_t {
  option,         ///< `-e` alone
  option_or_all,  ///< the same; where none is named, it shows all that may be seen
  first,          ///< `-e`, or the first argument
  first_or_all,   ///< the same; where none is named, it shows all that may be seen
  each,           ///< `-e`, or every argument
  name,           ///< `--name`, or the first argument: what is made
  fleet,          ///< `-e`, else the fleet that is meant without it
  path,           ///< the path of a request, or its parameter; else it shows all that may be seen
  shown,          ///< it shows what may be seen
  server,         ///< it is about the server as a whole
};

struct CommandRight {
  std::string_view words;
  Right right = Right::admin;
  EnvironmentRule rule = EnvironmentRule::server;
  /// What it needs when its words ask for less than usual; null: always the same.
  Right (*less)(const CommandLine& parsed) = nullptr;
  /// It shows what a program in a service says: to look on needs as much as to call it.
  bool is_inside = false;
};

const std::vector<CommandRight>& command_rights();

/// For a command at a server, as it was called: the rights, and who else may look on.
CommandNeeds needs_of(const Command& command, const CommandLine& parsed);
Right watch_of(const Command& command, const CommandLine& parsed);

}  // namespace fettle
