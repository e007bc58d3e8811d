#pragma once
/// A plugin that cannot be called, and says why when it is.

#include <memory>
#include <string>

#include "model/evaluate/plugin.h"

namespace fettle::model {

/// Fails with a reason, whatever its arguments.
std::shared_ptr<Plugin> failing_plugin(std::string reason);

}  // namespace fettle::model
