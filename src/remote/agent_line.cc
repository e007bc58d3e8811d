#include "remote/agent_line.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

/// What nobody who hears us leaves unheard.
constexpr size_t most_unheard = 8 << 20;

}  // namespace

Error nothing_heard(Duration silence) {
  return world_error(cat("nothing was heard for ",
                         std::chrono::duration_cast<std::chrono::seconds>(silence).count(), " s"));
}

AgentLine::AgentLine(Line& line, size_t most, Duration silence, std::stop_token stop)
    : line_(line),
      streams_(line_, most),
      silence_(silence),
      longest_turn_(silence),
      poller_(std::move(stop)),
      said_(Clock::now()),
      heard_(said_) {}

Status AgentLine::turn(std::span<pollfd> others,
                       const std::function<Result<bool>(const Frame&)>& hear) {
  if (Clock::now() - said_ >= silence_ / 3) {
    line_.send(FrameType::alive);
    said_ = Clock::now();
  }
  TRY(hear_all(hear));  // what came together with the first frame
  TRY(await(others));
  TRY(hear_all(hear));
  if (line_.unsent() > most_unheard)
    return world_error("the other side hears nothing");
  return {};
}

Status AgentLine::await(std::span<pollfd> others) {
  line_.push();
  if (line_.is_gone())
    return world_error("the connection was lost");
  std::vector<pollfd> polled = streams_.awaited();
  const size_t count = polled.size();
  polled.push_back({line_.descriptor(), line_.events(), 0});
  polled.insert(polled.end(), others.begin(), others.end());
  const auto now = Clock::now();
  const Duration patience =
      std::min<Duration>({said_ + silence_ / 3 - now, heard_ + silence_ - now, longest_turn_});
  TRY(poller_.wait(polled, std::max<Duration>(patience, 0s)));
  std::copy_n(polled.end() - static_cast<std::ptrdiff_t>(others.size()), others.size(),
              others.begin());
  streams_.act(std::span(polled).first(count));
  if ((polled[count].revents & ~POLLOUT) != 0)
    line_.pull();
  return {};
}

Status AgentLine::hear_all(const std::function<Result<bool>(const Frame&)>& hear) {
  while (const std::optional<Frame> frame = line_.take()) {
    const bool is_right = Streams::is_of_stream(frame->type) ? streams_.take(*frame)
                          : frame->type == FrameType::alive  ? frame->payload.empty()
                                                             : TRY(hear(*frame));
    if (!is_right) {
      line_.leave();
      return world_error("the other side said something that breaks the rules");
    }
  }
  if (line_.received() != std::exchange(received_, line_.received()))
    heard_ = Clock::now();
  if (line_.is_gone())
    return world_error("the connection was lost");
  if (Clock::now() - heard_ >= silence_)
    return nothing_heard(silence_);
  return {};
}

}  // namespace fettle
