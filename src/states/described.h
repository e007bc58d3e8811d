#pragma once
/// Reads what hosts describe of users' modules (`drivers/state/plugin.h`) into a catalogue: {path,
/// text, functions, wait, implied, skips_memory, can_look, can_repeat, acct}.

#include <span>

#include "states/catalogue.h"

namespace fettle::states {

struct DescribedModules {
  std::vector<Module> modules;  ///< those whose path begins with `states.`
  Waits waits;                  ///< those of users
  std::vector<Error> problems;  ///< faults of modules, which are left out
};

/// `broken`: the waits that have a file and could not be loaded.
DescribedModules read_described(std::span<const Value> modules, Waits broken = {});

}  // namespace fettle::states
