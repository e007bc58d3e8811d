#pragma once
/// The streams of an agent at the server, while somebody uses them: each connection at the agent's
/// sockets becomes one. A process of its own has the line for that time, since it reads what the
/// agent says of its streams; it gives the line back once nobody has wanted anything for a while
/// (`agent_hub.h`).

#include <signal.h>

#include <variant>

#include "remote/agents.h"
#include "remote/line.h"
#include "remote/visit.h"

namespace fettle {

/// What being an agent needs.
CommandNeeds needs_of_agent(const std::string& name);

/// What a session has when it begins.
struct AgentStreams {
  Line& line;
  const ServeSettings& settings;
  Visit& visit;
  const AgentPlace& place;
  uint64_t last = 0;  ///< the number of the last stream
};

/// Until nobody uses the agent: the number of the last stream. Or until the line has ended, or has
/// to: why (`Blame::user`: it need not come again).
std::variant<uint64_t, Error> serve_streams(const AgentStreams& begun);

/// Nobody uses an agent any more who has wanted nothing of it for so long.
constexpr Duration agent_lingers = 1s;
/// How long agents stay for the commands of a server that was killed.
constexpr Duration agents_drain = 30s;

/// SIGTERM is read instead of ending the process.
class EndSignal {
 public:
  EndSignal();
  ~EndSignal();
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;

  int descriptor() const { return signals_.get(); }
  /// Whether it came.
  bool take() const;

 private:
  sigset_t before_{};
  Descriptor signals_;
};

}  // namespace fettle
