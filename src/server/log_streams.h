#pragma once
/// Logs of services as they are written, for every viewer, from where it stood.
///
/// Each viewer has a thread that reads from the engine and waits there for as long as nothing is
/// written. A viewer that reads slowly must cost neither memory nor lines: when the lines that it
/// has not been sent fill their room, its thread reads no further, and the engine keeps the rest.
/// Lines become text on the queue's thread, which alone may use the mask and the store.

#include <list>
#include <memory>

#include "server/http_listener.h"
#include "server/routes.h"
#include "server/work_queue.h"

namespace fettle {

/// Used on the thread of the queue only, which must outlive it.
class LogStreams {
 public:
  LogStreams(const Workplace& place, WorkQueue& queue) : place_(place), queue_(queue) {}
  /// Asks all threads to stop, and waits for them.
  ~LogStreams();
  LogStreams(const LogStreams&) = delete;
  LogStreams& operator=(const LogStreams&) = delete;

  /// A viewer of the service in the path, which goes on at `last_seen` (the id of its last line), or
  /// begins with the last `tail` lines. Errors: there is none, it has no container, the id is none.
  Status add(const RouteCall& call, const std::string& last_seen, std::shared_ptr<WebPeer> peer);
  /// Lets those go that have gone.
  void sweep();

 private:
  struct Viewer;

  /// On the viewer's thread, as the next two are.
  void read(Viewer& viewer, const std::stop_token& stop);
  Status read_lines(Viewer& viewer, const std::stop_token& stop);
  /// Adds a job that sends what there is.
  void call(Viewer& viewer);
  void advance(Viewer& viewer);

  const Workplace& place_;
  WorkQueue& queue_;
  std::list<std::shared_ptr<Viewer>> viewers_;
};

}  // namespace fettle
