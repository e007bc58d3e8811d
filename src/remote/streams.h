#pragma once
/// Many streams in one line of frames: each goes both ways between a socket on this side and one on
/// the other, and has a number, which never comes again.
///
/// The line must go on whoever is slow: what comes for a socket that takes nothing is kept, and so
/// that this is never much, each side says `stream_taken` for what its socket has taken, and the
/// other one has no more than `stream_window` bytes under way without that. From sockets, nothing is
/// read while the line has much to send; each in turn gives one piece.
///
/// A socket whose other side says no more (`shutdown`, `stream_end`) may go on hearing. One that has
/// gone ends its stream both ways by `stream_break`; what was sent before still gets through.
///
/// Sockets never block, and nothing here waits: `AgentLine` does.

#include <poll.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "remote/line.h"

namespace fettle {

/// What is at the agent's end of a stream.
enum class StreamGoal : char {
  engine = 'e',  ///< its engine
  acts = 'a',    ///< what acts on its machine
};

/// How much of a stream is under way at most.
constexpr size_t stream_window = 256 << 10;

class Streams {
 public:
  /// `most`: how many there may be.
  Streams(Line& line, size_t most) : line_(line), most_(most) {}

  size_t count() const { return streams_.size(); }
  /// The number of the last one that was opened; one that takes over a line goes on behind it.
  uint64_t last() const { return last_; }
  void go_on_after(uint64_t last) { last_ = last; }
  /// Begins one on this side; at the other one, `stream_open` comes. With too many, the socket is
  /// answered by `busy` instead.
  void open(Descriptor local, StreamGoal goal, std::string_view busy);
  /// Begins the one that the other side has opened. `local`: its socket, or why there is none.
  /// False: that was against the rules.
  bool join(const Frame& opened, const std::function<Result<Descriptor>(StreamGoal)>& local);
  /// What a socket is answered whose stream ends before anything came for it: made of the reason.
  void answer_failures(std::function<std::string(StreamGoal goal, std::string_view why)> answer) {
    answer_ = std::move(answer);
  }

  /// Whether a frame is of a stream that exists or existed.
  static bool is_of_stream(FrameType type);
  /// False: it is against the rules.
  bool take(const Frame& frame);

  /// What they wait for, in the order in which `act` takes it.
  std::vector<pollfd> awaited() const;
  /// Reads and writes what is possible now.
  void act(std::span<const pollfd> polled);

 private:
  struct Stream {
    Descriptor local{};
    StreamGoal goal = StreamGoal::engine;
    std::string unwritten{};          ///< what came for the socket
    size_t may_send = stream_window;  ///< to the other side, until it has taken some
    size_t untold = 0;                ///< taken by the socket, which the other side does not know
    bool has_heard = false;           ///< anything of the other side
    bool has_ended = false;           ///< this side says no more
    bool is_ended = false;            ///< the other side says no more
    bool is_shut = false;             ///< its socket knows that
    bool is_broken = false;           ///< by the other side: ends when all is written
    bool is_parting = false;          ///< the same; what its socket says is not heard any more
    bool is_deaf = false;             ///< its socket takes nothing any more
    bool is_gone = false;             ///< nobody holds the other end of its socket
    bool is_over = false;             ///< may be forgotten
    std::string failure{};            ///< of its socket
  };
  using Number = uint64_t;

  bool wants_to_read(const Stream& stream) const;
  void serve(Number number, Stream& stream, short events);
  void read(Number number, Stream& stream);
  void write(Number number, Stream& stream);
  void tell_taken(Number number, Stream& stream, size_t least);
  void say_end(Number number, Stream& stream);
  void say_break(Number number, Stream& stream, std::string_view why);
  void part(Stream& stream, std::string_view answer);
  void hear_break(Stream& stream, std::string_view why);
  bool hear_bytes(Number number, Stream& stream, std::string_view bytes);

  Line& line_;
  const size_t most_;
  std::function<std::string(StreamGoal, std::string_view)> answer_;
  std::map<Number, Stream> streams_;
  Number last_ = 0;          ///< that was opened
  Number last_served_ = 0;   ///< whose turn it was
  Number last_refused_ = 0;  ///< those that were too many have numbers of their own
};

}  // namespace fettle
