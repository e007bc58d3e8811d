#pragma once
/// Events as they happen, for every viewer, from the one that it saw last.
///
/// The obvious way sends each event to all viewers when it happens. A viewer that reads slowly then
/// fills a buffer, or makes the run wait, or loses events. Here the store is the buffer: a viewer
/// has a number, and gets the next events after it when it has taken those before. So a viewer costs
/// one piece of memory however slow it is, gets all, and goes on where it was when it comes back.
/// Most viewers stand at the same place: a piece is made once, for all of them.

#include <list>
#include <map>
#include <memory>

#include "server/http_listener.h"
#include "server/work_queue.h"
#include "workplace/workplace.h"

namespace fettle {

/// Used on the thread of the queue only, which must outlive everything that is sent.
class EventStreams {
 public:
  EventStreams(const Workplace& place, WorkQueue& queue) : place_(place), queue_(queue) {}

  /// A viewer that has seen all events up to `after` of an environment; an empty name: of all.
  void add(std::shared_ptr<WebPeer> peer, Name environment, uint64_t after);
  /// Sends what there is to those who wait for more.
  void advance();

 private:
  struct Viewer {
    std::shared_ptr<WebPeer> peer;
    Name environment;
    uint64_t after = 0;
    bool is_sending = false;
  };

  /// What comes after an event, as it is sent.
  struct Piece {
    std::string text;  ///< empty: nothing yet
    uint64_t last = 0;
  };

  void advance(const std::shared_ptr<Viewer>& viewer);
  Result<const Piece*> piece_after(const Name& environment, uint64_t after);
  Result<Piece> make_piece(const Name& environment, uint64_t after) const;

  const Workplace& place_;
  WorkQueue& queue_;
  std::list<std::shared_ptr<Viewer>> viewers_;
  /// By environment and event, since the store was last changed.
  std::map<std::pair<Name, uint64_t>, Piece> pieces_;
};

}  // namespace fettle
