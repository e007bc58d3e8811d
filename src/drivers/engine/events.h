#pragma once
/// Events of an engine. They are only hints: they may be late, repeated or missing. Podman sends
/// old ones again when it rotates its file of events.

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
  std::map<std::string, std::string> attributes;  ///< of a container: its labels
  int64_t time_ns = 0;
};

/// Calls `take` once for each event of things with these labels, until a stop is asked for or the
/// engine ends the stream.
Status watch_events(Engine& engine, const std::vector<std::string>& labels,
                    const std::function<void(const EngineEvent&)>& take, std::stop_token stop);

}  // namespace fettle
