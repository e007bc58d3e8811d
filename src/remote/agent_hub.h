#pragma once
/// One process of a server that has the lines of all agents of which nothing is asked: it hears and
/// gives signs of life, and looks at tokens.
///
/// A connection begins in a session of its own (`session.h`). When that has let an agent in, it hands
/// the socket over and ends, so agents are none of the server's connections. As soon as somebody
/// connects to an agent's socket, or the agent says anything but that it lives, a process gets the
/// line (`agent_session.h`); it tells when it needs it no longer, and how many streams there were.
/// Both have the socket all the time, and one of them reads it. So the hub understands no frame of
/// an agent, only five bytes that are always the same; what parses the rest may die alone.
///
/// A hub that dies loses its agents, which come again, and the server begins another one for the
/// first of them. What a process is using then goes on, for as long as that lasts.

#include "base/file.h"
#include "remote/agents.h"
#include "remote/line.h"
#include "remote/session.h"
#include "remote/visit.h"

namespace fettle {

/// In the session of an agent, by its first frame: lets it in, and hands its line to the hub. Error:
/// why not (`Blame::user`: it need not come again).
Status let_agent_in(Line& line, const Caller& caller, Visit& visit, std::string_view json);

/// The process. It ends when it is asked to (SIGTERM), once all has been said. `identity`: with TLS
/// (`agents_tls.h`). The exit code.
int serve_agents(Descriptor arrivals, const ServeSettings& settings, RenewedIdentity* identity);

}  // namespace fettle
