#pragma once
/// The flags of commands about states, in Idem's spellings, and what they ask for.

#include "cli/command.h"
#include "verbs/states/states.h"

namespace fettle {

std::vector<CommandOption> state_options();

/// Flags, then what `--config` says, then variables. Errors (`Blame::user`): a value that makes no
/// sense. The face learns what the configuration asks for, such as the output; where the store is,
/// too, so the workplace is opened after this.
Result<StatesRequest> read_states_request(Face& face);

/// A word of the command line as a value: JSON where it is some, else a text.
Value value_of_word(const std::string& word);

}  // namespace fettle
