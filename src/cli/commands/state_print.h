#pragma once
/// Prints answers about states in the forms of Idem's outputs.

#include "cli/command.h"
#include "verbs/states/states.h"

namespace fettle {

/// `state`, `json`, `yaml`, `nested`, `pretty` or `raw`; the order by `--group`.
void print_states(const Face& face, const StatesReport& report, bool is_test);
/// A function of a module as `doc` tells it.
std::string text_of_function(const Value& function, bool colour);
/// Tells what is wrong with files of states, in one envelope; the exit code.
int tell_state_errors(const Face& face, const std::vector<Error>& errors);
/// The exit code by the flags of the command.
int code_of_states(const Face& face, const StatesReport& report, bool is_test);

}  // namespace fettle
