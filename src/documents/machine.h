#pragma once
/// This machine and this program. No verb reports them: the program itself tells, so the types of
/// what it tells stand here.

#include "documents/parts.h"

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

/// The sources and tools from which the program was built.
struct Build {
  std::string version, commit;
  Value libraries;
};

/// How many pulls of a node's daemon have ended.
struct PullTally {
  size_t succeeded = 0, failed = 0;
};

/// `address`, `flavour`, `why`, and the `private` one: `status`, `folder`, `address`.
Value document_of(const EngineState& state);
/// `doctor`: whether all is well, `ok`, and what was `found`.
Value document_of(const std::vector<Diagnosis>& lines, bool is_well);
/// `succeeded`, `failed`.
Value document_of(const PullTally& tally);
/// `version`, `commit` (null when nobody knows it), `libraries` by name.
Value document_of(const Build& build);

}  // namespace fettle
