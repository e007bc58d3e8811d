#pragma once
/// An agent: brings the engine of this machine to a server, over one connection that it makes itself,
/// and makes again whenever it was lost.

#include <functional>
#include <stop_token>
#include <string>

#include "base/file.h"
#include "base/time.h"
#include "remote/contexts.h"
#include "remote/streams.h"

namespace fettle {

struct AgentSettings {
  ServerChoice server;
  std::string name;
  std::string engine;             ///< for people: `Podman 4.3.1`; empty: it brings none
  std::vector<std::string> acts;  ///< what it allows: `engine`, `files`, …
  std::string version;
  /// A socket to the engine, or to what acts here, for one stream. It need not be connected yet.
  std::function<Result<Descriptor>(StreamGoal)> connect;
  std::function<void(const std::string&)> tell;  ///< for people: each change of state, once
  std::function<uint64_t()> random;
  Duration silence = 30s;  ///< after which the server counts as gone
  Duration first_pause = 500ms, longest_pause = 30s;
};

/// Until a stop is asked for. Errors: the server refuses this agent, and would the next time, too.
Status run_agent(const AgentSettings& settings, const std::stop_token& stop);

}  // namespace fettle
