#pragma once
/// This machine and this program. No verb reports them, so what a report of them says stands here.

#include <string>

#include "value/value.h"

namespace fettle {

/// A line of `doctor`.
struct Diagnosis {
  bool good = false;
  std::string text;
};

/// The engine that answers, and the private Podman.
struct EngineState {
  std::string address, flavour;  ///< of the one that answers; empty: none does
  std::string why;               ///< none answers
  std::string own;               ///< the private one: `running`, `stopped` or `absent`
  std::string folder, socket;    ///< of the private one
};

/// What the program was built from.
struct Build {
  std::string version, commit;
  Value libraries;
};

Value value_of(const EngineState& state);

}  // namespace fettle
