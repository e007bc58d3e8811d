#pragma once
/// What the parts of the driver share.

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/driver.h"
#include "drivers/engine/allocation.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/images.h"
#include "drivers/engine/subnets.h"

namespace fettle {

/// The value of an expression over a recipe's output.
using Extract = std::function<Result<Value>(std::string_view expression, std::string_view text)>;

struct EngineDriverOptions {
  Name name = "engine";       ///< what resources call it; of a node `engine@NODE`
  Duration stop_grace = 10s;  ///< between TERM and KILL
  WaitLimits limits{};
  bool rollback = true;  ///< a replacement that fails starts the old container again
  std::span<const Subnet> pools = own_pools;  ///< where networks take their ranges from
  Extract extract{};
  /// How a registry (`docker.io`, `host:5000`) knows us, if it does.
  std::function<std::optional<RegistryLogin>(std::string_view registry)> login{};
  CallObserver on_call{};
};

class PodProbes;

struct Site {
  HttpClient& http;
  Engine& engine;
  Blobs& blobs;
  Allocation& allocation;
  const EngineDriverOptions& options;
  PodProbes& probes;
};

/// The record of the service that an action names in its attributes; an error when it needs none.
Result<const Record*> host_of(const Act& act);

}  // namespace fettle
