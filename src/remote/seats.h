#pragma once
/// How far those have come who are connected to a server: in memory that it shares with the
/// processes of their connections, one byte for each. The server gives a seat to whoever comes, and
/// takes it back when his processes have ended; in between, his session says how far he has come.
/// Commands, which sessions fork, do not have this memory.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"

namespace fettle {

enum class Visitor : uint8_t {
  nobody,    ///< the seat is free
  stranger,  ///< has not proved who he is
  client,    ///< has
  agent,     ///< has, and is on his way to the hub
  view,      ///< has a session of the page, whose process has his connection
  away,      ///< is there, so his seat counts no more
};

class Seats {
 public:
  static Result<Seats> make(size_t count);

  /// For the server. None: all are taken.
  std::optional<size_t> take(Visitor visitor);
  void free(size_t seat) { all_[seat] = Visitor::nobody; }

  /// For the process of a connection, as soon as it begins.
  void keep_from_children();
  size_t count(Visitor visitor) const;
  Visitor at(size_t seat) const { return all_[seat]; }
  /// False: `most` others have come as far.
  bool move(size_t seat, Visitor visitor, size_t most);

 private:
  struct SeatsRelease {
    size_t size;
    void operator()(std::atomic<Visitor>* all) const;
  };

  Seats(std::atomic<Visitor>* all, size_t count);
  std::unique_ptr<std::atomic<Visitor>[], SeatsRelease> memory_;
  std::span<std::atomic<Visitor>> all_;
};

}  // namespace fettle
