#pragma once
/// The connection of an agent and its server once it has been let in: streams in a line of frames,
/// and signs of life. Both ends are the same but for who opens streams.

#include "base/wait.h"
#include "remote/streams.h"

namespace fettle {

/// How many streams an agent has at once.
constexpr size_t most_streams = 256;

/// Why a line ends on which the other side said nothing for so long.
Error nothing_heard(Duration silence);

class AgentLine {
 public:
  /// `silence`: after which the other side is gone; a sign of life is sent three times in it.
  AgentLine(Line& line, size_t most, Duration silence, std::stop_token stop);

  /// Sends what is there, waits, and does what can be done. `others` is what else is waited for. The
  /// frames that came and are not of streams are for `hear`; false: one is against the rules.
  /// Errors: the line has ended, and why; a stop was asked for (`is_cancelled`).
  Status turn(std::span<pollfd> others, const std::function<Result<bool>(const Frame&)>& hear);

  /// From now on, no turn waits longer.
  void hurry(Duration longest) { longest_turn_ = longest; }
  Streams& streams() { return streams_; }

 private:
  using Clock = std::chrono::steady_clock;

  Status await(std::span<pollfd> others);
  Status hear_all(const std::function<Result<bool>(const Frame&)>& hear);

  Line& line_;
  Streams streams_;
  const Duration silence_;
  Duration longest_turn_;
  Poller poller_;
  Clock::time_point said_, heard_;
  uint64_t received_ = 0;
};

}  // namespace fettle
