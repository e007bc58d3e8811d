#pragma once
/// A thread that belongs to the play of whoever begins it (`base/play.h`), else a `std::jthread`:
/// its destructor asks it to stop, and waits for its end.

#include <concepts>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/play.h"

namespace fettle {

class Thread {
 public:
  Thread() = default;
  /// `work` may take a stop token.
  template <typename Work>
    requires(!std::same_as<Work, Thread>)
  explicit Thread(Work work) : play_(Play::current()) {
    if (play_ == nullptr) {
      thread_ = std::jthread(std::move(work));
      return;
    }
    number_ = play_->add_thread();
    thread_ = std::jthread([play = play_, number = number_,
                            work = std::move(work)](const std::stop_token& stop) mutable {
      play->begin_thread(number);
      carry_out(std::move(work), stop);
      play->end_thread(number);
    });
  }
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept {
    if (this == &other)
      return *this;
    end();
    play_ = other.play_;
    number_ = other.number_;
    thread_ = std::move(other.thread_);
    return *this;
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() { end(); }

  bool request_stop() { return thread_.request_stop(); }
  void join() {
    if (play_ != nullptr)
      play_->await_end(number_);
    thread_.join();
  }

 private:
  /// What the work holds goes before the thread has ended.
  template <typename Work>
  static void carry_out(Work work, const std::stop_token& stop) {
    if constexpr (std::is_invocable_v<Work&, const std::stop_token&>)
      work(stop);
    else
      work();
  }
  void end() {
    if (!thread_.joinable())
      return;
    thread_.request_stop();
    join();
  }

  Play* play_ = nullptr;
  uint64_t number_ = 0;
  std::jthread thread_;
};

}  // namespace fettle
