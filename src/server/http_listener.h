#pragma once
/// The sockets of our server: connections, their limits, and the bytes of requests and replies.
///
/// `base/http_server.h` serves probes: GET, a request a connection, an answer at once. A page asks
/// for many things over a few connections that stay, is told what happens by a stream that stays
/// for hours, and reads as slowly as it likes; and a browser can be made to send what others thought
/// up. So this one is built on Boost.Beast, whose parser is strict about what proxies and servers
/// read in two ways. It is included in `http_listener.cc` and `web_socket.cc` and nowhere else: it
/// costs more to compile than all else here.
///
/// One thread has all connections and decides nothing: it hands over requests, and replies come
/// back from any thread. Every wait for the other side has a limit but that for the end of a stream.

#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/time.h"
#include "server/exchange.h"

namespace fettle {

struct ListenerSettings {
  Duration request_limit = 10s;  ///< from the first wait for a request until all of it is there
  Duration write_limit = 30s;    ///< for one reply, or one piece of a stream
  size_t header_bytes = 16'384;
  size_t body_bytes = 1'048'576;
  size_t connections = 256;    ///< at once; the one that has idled longest goes for a new one
  Duration socket_idle = 30s;  ///< of a WebSocket whose other side does not even answer pings
};

/// The name of what is spoken in a WebSocket of ours; beside it, the key of terminals is offered.
constexpr const char* terminal_protocol = "fettle.terminal";

/// What is done with what comes over a WebSocket.
struct SocketEnds {
  Descriptor input;  ///< a local socket that takes the bytes of binary messages
  /// A text message, on the listener's thread; it must not block. False: it is none of ours, which
  /// ends the socket.
  std::function<bool(std::string_view text)> told;
  /// Once, on the listener's thread: nothing comes or goes any more.
  std::function<void()> gone;
};

enum class SocketForm { bytes, text };

/// The other side of a WebSocket. Every function may be called from any thread.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  /// Messages go in the order of the calls; `sent` is called on the listener's thread when this one
  /// has gone out, and not at all if the other side has gone.
  virtual void send(std::string bytes, SocketForm form, std::function<void()> sent) = 0;
  /// When all is sent.
  virtual void close() = 0;
  virtual bool is_gone() const = 0;
};

/// The other side of a request. Every function may be called from any thread.
class WebPeer {
 public:
  virtual ~WebPeer() = default;
  /// Once.
  virtual void reply(WebReply reply) = 0;
  /// Instead of a reply: begins a stream of server-sent events. The peer is a viewer until it goes.
  virtual void open_stream() = 0;
  /// A piece of the stream; `sent` is called on the listener's thread when the peer has taken it,
  /// and not at all if it has gone. One piece at a time.
  virtual void send(std::string bytes, std::function<void()> sent) = 0;
  /// Instead of a reply, if the request has asked for a WebSocket (`WebRequest::wants_socket`).
  virtual std::shared_ptr<WebSocket> open_socket(SocketEnds ends) = 0;
  virtual bool is_gone() const = 0;
};

class HttpListener {
 public:
  /// Called on the listener's thread; it must not block.
  using Handler = std::function<void(WebRequest request, std::shared_ptr<WebPeer> peer)>;

  /// Listens at 127.0.0.1. Port 0: any that is free. Error: the port is not to be had.
  static Result<std::unique_ptr<HttpListener>> open(int port, const ListenerSettings& settings);
  /// Listens nowhere: what it serves is adopted.
  static std::unique_ptr<HttpListener> for_handed(const ListenerSettings& settings);
  virtual ~HttpListener() = default;

  /// A connection that somebody else has accepted, for one request. `bytes`: what came of it. `from`:
  /// who has made it. While it serves, from any thread.
  virtual void adopt(Descriptor socket, std::string bytes, std::string from) = 0;
  virtual int port() const = 0;
  /// Begins to accept connections.
  virtual void serve(Handler handler) = 0;
  /// How many streams are open.
  virtual size_t viewers() const = 0;
  /// Closes everything and waits for the end of the thread. No handler is called afterwards.
  virtual void close() = 0;
};

}  // namespace fettle
