#pragma once
/// The other side of `AgentMachine`, on the machine of the agent: does what the run at the server
/// asks for, each call on a thread of its own, for as long as the stream lasts.

#include <functional>

#include "core/driver.h"
#include "drivers/agent/act_line.h"
#include "drivers/agent/far_blobs.h"

namespace fettle {

struct ActHost {
  /// Who acts on things of a kind. Errors (`Blame::user`): nobody, or it is not allowed here.
  std::function<Result<Driver*>(const Name& kind)> driver;
  /// How states are called in this run, before any of them is.
  std::function<Status(const Value& settings)> begin_states;
  /// What is asked of the functions of states outside of acts, and is answered by a value.
  std::function<Result<Value>(const Value& asked, std::stop_token stop)> ask_states;
  /// States that running ones have added since.
  std::function<std::vector<Value>()> take_additions;
};

/// Until the stream ends; then, what is under way is told to stop, and waited for. `blobs` are those
/// of the drivers. Error: the server breaks the rules.
Status serve_acts(ActLine& line, FarBlobs& blobs, const ActHost& host);

}  // namespace fettle
