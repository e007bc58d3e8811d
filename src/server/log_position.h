#pragma once
/// Where a reader stands in the log of a container, so that whoever comes back gets every line once.
///
/// Lines of a log have no numbers. The obvious way asks for what was written since the last line
/// that was read: of several lines of one moment some are then lost or come twice, and what two
/// streams write at once stands in the log slightly out of order. So a position is a moment well
/// before the last line, how many lines at or after it have been read, and when the newest of them
/// was written. That many lines are left out again. A line that is newer than all that was read is
/// never left out: the container may be another one, or its log may have lost its beginning.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fettle {

class LogPosition {
 public:
  /// Before the first line of the log that was written then, or later.
  explicit LogPosition(Time begin);
  /// What `text` wrote. Error (`Blame::user`): it did not.
  static Result<LogPosition> read(std::string_view text);
  std::string text() const;

  /// Since when an engine is asked: early enough for one that counts whole seconds.
  std::string since() const;
  /// The next line that the engine has, asked from there. Whether it has not been read before.
  bool take(Time written);
  /// When the newest line was written, for one that does not say it.
  Time newest() const { return newest_; }

 private:
  void move_anchor(Time written);

  Time anchor_;
  uint64_t count_ = 0;  ///< of the lines since the anchor that have been read
  Time newest_;
  uint64_t known_ = 0;         ///< how many lines are still to be left out
  std::optional<Time> begin_;  ///< when the first line was written, before it has been read
  std::optional<Time> next_;   ///< a later anchor, when no line at or after it had been read
  uint64_t next_count_ = 0;
};

}  // namespace fettle
