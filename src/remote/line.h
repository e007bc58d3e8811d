#pragma once
/// One end of a stream of frames: a socket that never blocks, in clear text or with TLS, with what
/// is still to be sent.

#include <optional>
#include <string>

#include "base/file.h"
#include "base/time.h"
#include "base/tls.h"
#include "remote/frames.h"

namespace fettle {

/// How much of its standard input a client sends before it hears that the command has taken some.
/// Ctrl-C would be behind what a command does not read, and so would the end of the connection.
constexpr size_t input_window = 256 << 10;

/// How much waits for a slow client before whoever tells it something does.
constexpr size_t most_unsent = 256 << 10;

class Line {
 public:
  explicit Line(Descriptor socket, std::string_view already_read = {});
  /// `tls`: through which the socket's bytes go, after its handshake.
  Line(Descriptor socket, TlsStream tls);

  int descriptor() const { return socket_.get(); }
  /// Whether the other side went, or broke the rules.
  bool is_gone() const { return is_gone_; }
  void leave();
  /// Whether nothing is to be sent, and nothing has come that was not taken.
  bool is_idle() const { return unsent() == 0 && !back_ && reader_.is_empty(); }
  /// Ends TLS on both sides and gives the socket, on which something else may be said; the line is
  /// gone then. Closed: the other side did not end it.
  Descriptor leave_tls(Duration patience);
  /// Without TLS: the socket, for another process; the line is gone then.
  Descriptor take_socket();
  /// `events` for `poll`.
  short events() const;

  void send(FrameType type, std::string_view payload = {});
  /// Frames that are packed already.
  void send_packed(std::string_view bytes) { unsent_.append(bytes); }
  size_t unsent() const { return unsent_.size() - sent_; }
  /// Sends what the socket takes now.
  void push();
  /// Sends all. False: the other side went, or takes nothing for so long.
  bool push_all(Duration patience);
  /// Reads what is there now.
  void pull();
  /// How many bytes have come.
  uint64_t received() const { return received_; }
  /// Waits for the bytes of something that is no frame, which comes before the first one. Empty: the
  /// line is gone, or the time is over.
  std::string receive(Duration patience);
  /// Bytes that came with the former.
  void add_received(std::string_view bytes) { reader_.add(bytes); }
  /// The next frame that is whole. None: there is none yet, or the line is gone.
  std::optional<Frame> take();
  /// The frame that the next `take` gives.
  void put_back(Frame frame) { back_ = std::move(frame); }
  /// Waits for the next frame. None: the line is gone, or the time is over.
  std::optional<Frame> await(Duration patience);

 private:
  /// As `send` and `recv` without waiting.
  ssize_t write_some(std::string_view bytes);
  ssize_t read_some(std::span<char> into);

  Descriptor socket_;
  std::optional<TlsStream> tls_;  ///< goes before its socket
  bool reading_waits_to_write_ = false;
  FrameReader reader_;
  std::optional<Frame> back_;
  std::string unsent_;
  size_t sent_ = 0;
  uint64_t received_ = 0;
  bool is_gone_ = false;
};

/// When one side of a line says again that it is there, though it has nothing to say: proxies and
/// routers forget a connection in which nothing happens, often after a minute.
class SignOfLife {
 public:
  explicit SignOfLife(Duration pause) : pause_(pause), next_(Clock::now() + pause) {}

  void send_if_due(Line& line) {
    if (Clock::now() < next_)
      return;
    next_ = Clock::now() + pause_;
    if (line.unsent() == 0)
      line.send(FrameType::alive);
  }
  /// How long until then.
  Duration left() const { return std::max<Duration>(next_ - Clock::now(), Duration(0)); }

 private:
  using Clock = std::chrono::steady_clock;

  Duration pause_;
  Clock::time_point next_;
};

/// Waits until something can be read or written; as `poll` with one descriptor.
bool await_events(int descriptor, short events, Duration patience);

}  // namespace fettle
