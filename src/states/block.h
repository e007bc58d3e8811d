#pragma once
/// A file of states consists of blocks, each of which is rendered on its own, by a pipe of stages.
/// A line that begins with `#!` in the first column ends one block and begins the next:
///
///   #!jinja|yaml       by this pipe
///   #!require:ID       only when the state with this ID has run; several such lines want all
///   #!END              back to the block around
///
/// The line of an interpreter, `#!/…`, has no meaning.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "states/position.h"
#include "value/name.h"

namespace fettle::states {

/// A stage turns text into text, text into data, or data into data.
enum class Stage : uint8_t { jinja, yaml, json, replacements };

std::string_view to_string(Stage stage);

/// Reads `jinja|yaml|replacements`. Error in Idem's words: there is no such stage, or two of them
/// do not fit together.
Result<std::vector<Stage>> parse_pipe(std::string_view text);

struct Block {
  struct AwaitedState {
    Name id;
    uint32_t line = 0;
  };
  std::vector<Stage> pipe;
  SharedText text;
  uint32_t line = 1;                  ///< its first line in the file
  std::vector<AwaitedState> awaited;  ///< empty: it is rendered at once
};

/// The blocks of a file, without those that have no text. An error has the line.
Result<std::vector<Block>> blocks_of(SharedText text, std::span<const Stage> pipe);

}  // namespace fettle::states
