#pragma once
/// Reads the files that the command line names and all that they include, breadth first: a file
/// stands before those that it includes. A file that is named twice is read once, so files may
/// include one another.

#include <span>
#include <string>
#include <vector>

#include "states/position.h"
#include "states/render.h"

namespace fettle::states {

/// A block that waits for states to run.
struct DelayedBlock {
  struct AwaitedState {
    Name id;
    Position at;
  };
  Name ref;  ///< of its file
  SharedText text;
  std::vector<AwaitedState> awaited;
};

struct GatheredFiles {
  std::vector<Document> documents;  ///< those of a file stand one behind another
  std::vector<size_t> levels;       ///< of each document: how many includes lead to it
  std::vector<DelayedBlock> delayed;
};

struct GatherContext {
  Sources& sources;
  Texts& texts;
  BlockRenderer& rendering;
  std::span<const Stage> pipe;
  const Outcomes* outcomes = nullptr;
  Report& report;
};

/// Reads everything that can be read, and reports the rest.
GatheredFiles gather(std::span<const std::string> words, const GatherContext& gathering);

/// The same for a given file.
GatheredFiles gather(SourceFile file, const GatherContext& gathering);

/// The parameters in files of parameters.
Params params_of(const GatheredFiles& gathered);

/// Python's name for the type of a part: `str`, `list`, `NoneType`.
std::string_view python_type(const TreeNode& node);

}  // namespace fettle::states
