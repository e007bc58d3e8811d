#pragma once
/// What the last run of states in an environment was asked: the words behind `fettle state`, and in
/// which folder. Records keep what was made of the files, and not which files there were. The words
/// may hold parameters that nobody else should see, so they are sealed in the store.

#include <optional>
#include <string>
#include <vector>

#include "workplace/workplace.h"

namespace fettle {

struct LastStates {
  std::vector<std::string> words;
  std::string folder;
  bool operator==(const LastStates&) const = default;
};

Result<std::optional<LastStates>> read_last_states(const Workplace& place, const Name& environment);
/// A run that is asked the same again writes nothing.
Status write_last_states(const Workplace& place, Edit& edit, const LastStates& asked);

}  // namespace fettle
