#pragma once
/// Events of an engine. They are hints only: they may be late, repeated or missing, and Podman
/// sends old ones again when it rotates its file of events.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "drivers/engine/engine.h"

namespace fettle {

struct EngineEvent {
  std::string type;    ///< `container`, `network`, `volume`, `image`
  std::string action;  ///< `start`, `die`, `destroy` …, in Docker's words
  std::string id;
  std::map<std::string, std::string> attributes;  ///< of a container its labels
  int64_t time_ns = 0;
};

/// Calls `take` for each event of things with these labels, once each, until stopped or until the
/// engine ends the stream.
Status watch_events(Engine& engine, const std::vector<std::string>& labels,
                    const std::function<void(const EngineEvent&)>& take, std::stop_token stop);

}  // namespace fettle
