#pragma once
/// Ends what would go on for ever: users' code that is called between acts, where nobody else looks
/// at the clock.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/time.h"

namespace fettle {

/// A token that is asked to stop together with another one, and when a time has passed.
class TimeUp {
 public:
  /// `time`: from now on; 0: never.
  TimeUp(const std::stop_token& other, Duration time) : on_other_(other, [this] { stop(); }) {
    if (time > Duration(0))
      timer_ = std::jthread([this, time](const std::stop_token& leaving) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any().wait_for(lock, leaving, time, [] { return false; });
        if (!leaving.stop_requested())
          stop();
      });
  }

  std::stop_token token() const { return source_.get_token(); }

 private:
  void stop() { source_.request_stop(); }

  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_other_;
  std::jthread timer_;
};

}  // namespace fettle
