#pragma once
/// `-L GLOB`: a command that is carried out on each agent whose name fits, in an environment of its
/// own for each, `ENVIRONMENT.HOST`.

#include <initializer_list>

#include "cli/command.h"

namespace fettle {

CommandOption on_each_option();
/// Error (`Blame::user`): another option is given, one of a single machine.
Status check_on_each(const Face& face, std::initializer_list<const char*> others);
/// The agents that are connected and whose names fit, sorted. Those that are gone are warned of.
/// Error: there are none.
Result<std::vector<std::string>> hosts_asked(Face& face);
/// The environment of a host, in which its machine is asked for.
std::string environment_of_host(const Workplace& place, const std::string& environment,
                                const std::string& host);
/// The heading of what is printed about a host.
void print_host(const Face& face, const std::string& host, const std::string& environment);
/// Says why nothing came about on a host; the exit code.
int tell_failed_host(const Face& face, const std::string& host, const Error& error);
/// The worse one of two exit codes.
int worse_code(int a, int b);

}  // namespace fettle
