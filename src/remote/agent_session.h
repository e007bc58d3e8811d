#pragma once
/// The server's side of an agent: the process of its connection. It listens at the agent's socket,
/// and each connection there becomes a stream to the engine at the agent's side.

#include "remote/line.h"
#include "remote/session.h"
#include "remote/visit.h"

namespace fettle {

/// Lets an agent in, by its first frame, and serves until it has gone or the server ends. The error
/// that it is told: why it is refused (`Blame::user`: it need not come again), or why it ends.
Status serve_agent(Line& line, const ServeSettings& settings, Visit& visit, std::string_view json);

}  // namespace fettle
