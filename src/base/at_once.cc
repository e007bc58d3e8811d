#include "base/at_once.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

namespace fettle {

Status do_at_once(const std::vector<Task>& tasks, size_t most, const std::stop_token& stop) {
  std::stop_source end;
  const std::stop_callback passed_on(stop, [&] { end.request_stop(); });
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Status first;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      Status done = tasks[i](end.get_token());
      if (done)
        continue;
      next = tasks.size();
      const std::lock_guard lock(mutex);
      if (first)
        first = std::move(done);
      end.request_stop();
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (size_t i = 1; i < std::min(most, tasks.size()); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error&) {
    // With fewer threads it only takes longer.
  }
  work();
  threads.clear();  // joins
  return first;
}

}  // namespace fettle
