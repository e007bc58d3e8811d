#pragma once
/// The one thread on which our server calls verbs: jobs wait here for their turn.

#include <deque>
#include <functional>
#include <mutex>

#include "base/condition.h"

namespace fettle {

class WorkQueue {
 public:
  using Job = std::function<void()>;

  /// From any thread.
  void add(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    added_.notify_one();
  }
  /// The next job, when there is one. Null: the time is over, or a stop was asked for.
  Job next(const std::stop_token& stop, Instant until) {
    std::unique_lock lock(mutex_);
    if (!added_.wait_until(lock, stop, until, [&] { return !jobs_.empty(); }))
      return nullptr;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
  }

 private:
  std::mutex mutex_;
  Condition added_;
  std::deque<Job> jobs_;
};

}  // namespace fettle
