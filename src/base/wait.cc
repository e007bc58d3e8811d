#include "base/wait.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/condition.h"
#include "base/text.h"

namespace fettle {
namespace {

/// If there is no bell, a stop is looked for this often.
constexpr Duration without_bell = 20ms;

timespec span_of(Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
}

}  // namespace

Poller::Poller(std::stop_token stop)
    : stop_(std::move(stop)),
      bell_(stop_.stop_possible() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1),
      on_stop_(stop_, [this] { wake(); }) {}

void Poller::wake() {
  const uint64_t one = 1;
  if (bell_.is_open())
    static_cast<void>(!::write(bell_.get(), &one, sizeof one));
}

Result<int> Poller::wait(std::span<pollfd> waited, Duration limit) {
  std::vector<pollfd> all(waited.begin(), waited.end());
  all.push_back({bell_.get(), POLLIN, 0});
  const auto began = std::chrono::steady_clock::now();
  const bool looks = stop_.stop_possible() && !bell_.is_open();
  while (!stop_.stop_requested()) {
    Duration left = for_ever;
    if (limit >= 0s)
      left = std::max<Duration>(0s, limit - (std::chrono::steady_clock::now() - began));
    const bool is_last = !looks || (left >= 0s && left <= without_bell);
    const timespec span = span_of(is_last ? left : without_bell);
    const int ready =
        ppoll(all.data(), all.size(), is_last && left < 0s ? nullptr : &span, nullptr);
    if (ready < 0 && errno != EINTR)
      return world_error(cat("cannot wait: ", lower_case(std::strerror(errno))));
    if (stop_.stop_requested())
      break;
    std::copy_n(all.begin(), waited.size(), waited.begin());
    if (ready > 0)
      return ready;
    if (ready == 0 && is_last)
      return 0;
  }
  return cancelled_error();
}

Result<bool> await_descriptor(int descriptor, short events, Duration limit,
                              const std::stop_token& stop) {
  pollfd waited{descriptor, events, 0};
  return TRY(Poller(stop).wait(std::span(&waited, 1), limit)) > 0;
}

Status pause_for(Duration duration, const std::stop_token& stop) {
  if (Play::current() != nullptr) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    Condition().wait_until(lock, stop, instant_from_clock() + duration, [] { return false; });
    return stop.stop_requested() ? Status(cancelled_error()) : Status();
  }
  TRY(Poller(stop).wait({}, std::max<Duration>(0s, duration)));
  return {};
}

Duration left_of(Duration limit, std::chrono::steady_clock::time_point began) {
  if (limit <= 0s)
    return for_ever;
  return std::max<Duration>(0s, limit - (std::chrono::steady_clock::now() - began));
}

}  // namespace fettle
