#pragma once
/// The last lines of two streams, in the order in which they began. A line without an end counts as
/// one, too.

#include <array>
#include <deque>
#include <optional>
#include <string>

#include "drivers/engine/containers.h"

namespace fettle {

class LastLines {
 public:
  explicit LastLines(size_t count) : count_(count) {}

  void take(OutputStream stream, std::string_view bytes);
  /// Passes on the lines and keeps them.
  Status hand_over(const StreamSink& sink) const;
  /// The part that follows what was taken, if everything is sent once more.
  std::string_view without_taken(OutputStream stream, std::string_view bytes);

 private:
  struct Line {
    OutputStream stream;
    std::string text;
  };
  void append(OutputStream stream, std::string_view text);

  size_t count_;
  std::deque<Line> lines_;
  size_t dropped_ = 0;                             ///< lines before the first of these
  std::array<std::optional<size_t>, 2> open_{};    ///< for each stream, which line has no end
  std::array<uint64_t, 2> taken_{}, passed_by_{};  ///< bytes
};

}  // namespace fettle
