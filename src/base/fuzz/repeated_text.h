#pragma once
/// Texts that repeat a part, and limits that end at any step, for all fuzzers.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fettle {

/// A text that a fuzzer made, and whether it repeats a part.
struct RepeatedText {
  std::string text;
  bool is_repeated = false;
};

/// Between two marks stands what is there many times, so that a few bytes grow deep, wide, or share
/// their parts: `HEAD \1 PART \1 TAIL`. How often tells `choice`; without two marks the text is as
/// it is.
inline RepeatedText repeated_text(std::string_view data, size_t choice) {
  constexpr std::array<size_t, 4> counts = {10, 1'000, 10'000, 100'000};
  constexpr size_t largest = 1 << 20;
  constexpr char mark = 1;
  const size_t first = data.find(mark);
  const size_t second = first == data.npos ? data.npos : data.find(mark, first + 1);
  if (second == data.npos)
    return {std::string(data), false};
  const std::string_view part = data.substr(first + 1, second - first - 1);
  const size_t count = std::min(counts[choice % counts.size()], largest / (part.size() + 1));
  RepeatedText made{std::string(data.substr(0, first)), true};
  for (size_t i = 0; i < count; ++i)
    made.text += part;
  made.text += data.substr(second + 1);
  return made;
}

/// A run may end at any step: an odd `choice` says after how many, else there are as many as may
/// be.
inline uint64_t steps_of(uint64_t most, uint8_t choice) {
  const uint64_t few = choice / 2;
  return choice % 2 == 0 ? most : std::min(most, 1 + few * few);
}

}  // namespace fettle
