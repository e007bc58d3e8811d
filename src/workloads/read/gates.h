#pragma once
/// Feature gates of a fleet, with OpenKruise's names: `NAME=BOOL,NAME=BOOL`. Unlike there, those
/// that pull images ahead are on by default.

#include <map>
#include <string>

#include "base/result.h"
#include "workloads/fleet.h"

namespace fettle::workloads {

/// The gates that somebody set, by name.
using GateWords = std::map<std::string, bool>;

/// Errors (`Blame::user`): an unknown gate (with a suggestion), a value that is no truth value, or
/// a gate that is turned on while the one that it depends on is turned off.
Result<GateWords> read_gates(std::string_view text);
/// The stored gates with newer ones put over them: `KruiseDaemon=false` turns off those that depend
/// on it. Errors: as above, also for a gate that is turned on while the other one has been off
/// before.
Result<GateWords> merged_gates(GateWords before, const GateWords& words);

Gates gates_of(const GateWords& words);

Value value_of(const GateWords& words);
GateWords gate_words_of(const Value& value);

}  // namespace fettle::workloads
