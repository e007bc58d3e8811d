#pragma once
/// Feature gates of a fleet, as OpenKruise names them: `NAME=BOOL,NAME=BOOL`. Here those that pull
/// images ahead are on from the beginning.

#include <map>
#include <string>

#include "base/result.h"
#include "workloads/fleet.h"

namespace fettle::workloads {

/// What somebody said about gates, by name.
using GateWords = std::map<std::string, bool>;

/// Errors (`Blame::user`): an unknown gate (with a suggestion), no truth value, a gate that is on
/// explicitly while the one that it stands on is off.
Result<GateWords> read_gates(std::string_view text);
/// The same of what is stored, with newer words on top: `KruiseDaemon=false` ends what stands on
/// it. Errors: as above, also of a gate that is turned on while the other one is off since before.
Result<GateWords> merged_gates(GateWords before, const GateWords& words);

Gates gates_of(const GateWords& words);

Value value_of(const GateWords& words);
GateWords gate_words_of(const Value& value);

}  // namespace fettle::workloads
