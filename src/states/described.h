#pragma once
/// Modules of users as a catalogue knows them, from what their hosts describe
/// (`drivers/state/plugin.h`): {path, text, functions, wait, implied, skips_memory, acct}.

#include <span>

#include "states/catalogue.h"

namespace fettle::states {

struct DescribedModules {
  std::vector<Module> modules;  ///< those whose path begins with `states.`
  std::vector<Error> problems;  ///< what is wrong with one of them; that one is left out
};

DescribedModules read_described(std::span<const Value> modules);

}  // namespace fettle::states
