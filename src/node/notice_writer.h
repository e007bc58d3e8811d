#pragma once
/// Writes what is told about pulls as Events. Nothing waits for one: a thread of its own writes
/// them when nothing else is to be written, and of too many the oldest go.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "kubernetes/client.h"
#include "node/pulls.h"

namespace fettle::node {

/// The Event object. `number` makes its name unlike those of others at the same time.
Value event_of(const PullNotice& notice, const std::string& node, Time now, uint64_t number);

class NoticeWriter {
 public:
  static constexpr size_t most_waiting = 200;

  /// `client` outlives it.
  NoticeWriter(kubernetes::Client& client, std::string node);

  void tell(const PullNotice& notice, Time now);

 private:
  void write(const std::stop_token& stop);

  kubernetes::Client& client_;
  const std::string node_;
  std::mutex mutex_;
  std::condition_variable_any come_;
  std::deque<Value> waiting_;
  uint64_t number_ = 0;
  std::jthread thread_;  ///< ends before the other members go
};

}  // namespace fettle::node
