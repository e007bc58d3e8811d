#pragma once
/// What the fuzzers share: a session with small limits, the dialect that allows everything, and
/// texts that repeat a part.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "starlark/starlark.h"

namespace fettle::starlark {

inline Limits small_limits() {
  Limits limits;
  limits.steps = 20'000;
  limits.memory = 32 << 20;
  limits.depth = 200;
  return limits;
}

/// A text that a fuzzer made, and whether it repeats a part.
struct Text {
  std::string text;
  bool is_repeated = false;
};

/// Between two marks stands what is there many times, so that a few bytes grow deep, wide, or share
/// their parts: `HEAD \1 PART \1 TAIL`. How often tells `choice`; without two marks the text is as
/// it is.
inline Text repeated_text(std::string_view data, size_t choice) {
  constexpr std::array<size_t, 4> counts = {10, 1'000, 10'000, 100'000};
  constexpr size_t largest = 1 << 20;
  constexpr char mark = 1;
  const size_t first = data.find(mark);
  const size_t second = first == data.npos ? data.npos : data.find(mark, first + 1);
  if (second == data.npos)
    return {std::string(data), false};
  const std::string_view part = data.substr(first + 1, second - first - 1);
  const size_t count = std::min(counts[choice % counts.size()], largest / (part.size() + 1));
  Text made{std::string(data.substr(0, first)), true};
  for (size_t i = 0; i < count; ++i)
    made.text += part;
  made.text += data.substr(second + 1);
  return made;
}

inline Dialect every_switch(Profile profile) {
  Dialect dialect = Dialect::of(profile);
  dialect.set = dialect.while_loops = dialect.top_level_control = true;
  dialect.global_reassign = dialect.recursion = true;
  return dialect;
}

}  // namespace fettle::starlark
