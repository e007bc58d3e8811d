#pragma once
/// Requests that are answered by a command of our own in a child process.
///
/// A plan is made of what users wrote: a package, a model, manifests. That text may run forever or
/// take all memory, and it must not take the page with it. So the program is started again with the
/// words that a user would type, gets limits, may die alone, and prints the document that is sent.
/// One runs after the other, on a thread of their own: others are answered meanwhile.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/thread.h"
#include "server/http_listener.h"
#include "server/work_queue.h"

namespace fettle {

/// A command, and what is answered when it has printed a document. Without words, nothing has to be
/// asked, and the document is null.
struct ChildCall {
  std::vector<std::string> words;
  std::function<Result<Value>(const Value& document)> answer;
  std::string folder{};  ///< where it runs; empty: in the home, which is no project and no package
};

struct ChildLimits {
  Duration time = 60s;
  uint64_t memory_bytes = uint64_t{4} << 30;
  size_t output_bytes = size_t{16} << 20;
};

class ChildCalls {
 public:
  /// `program` is this program.
  ChildCalls(std::string program, std::string home, const ChildLimits& limits);
  ~ChildCalls() { stop(); }
  ChildCalls(const ChildCalls&) = delete;
  ChildCalls& operator=(const ChildCalls&) = delete;

  /// Replies when it is done; the peer is told if there are too many.
  void add(ChildCall call, std::shared_ptr<WebPeer> peer);
  /// Ends the child and lets the others go.
  void stop();

 private:
  WebReply reply_of(const ChildCall& call) const;

  const std::string program_, home_;
  const ChildLimits limits_;
  std::stop_source stop_;
  WorkQueue queue_;
  std::atomic<size_t> waiting_ = 0;
  Thread thread_;
};

}  // namespace fettle
