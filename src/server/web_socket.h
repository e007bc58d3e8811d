#pragma once
/// A WebSocket of our server: bytes that go both ways, over a connection whose request asked for it.
///
/// Both sides may be slow, and neither must cost memory. What the browser says goes into a
/// descriptor, and nothing more is read while that is full. What is sent waits in order, and whoever
/// sends is told when it has gone. The browser itself reads as fast as it can and keeps what its
/// script has not taken, so the script says how much that was: `told`.
///
/// The one header of this folder with Beast in it, for the two files that have sockets.

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "server/http_listener.h"

namespace fettle {

class BeastSocket : public WebSocket {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;

  /// The next three on the thread of the listener. `begin`: once, with the connection.
  virtual void begin(boost::beast::tcp_stream stream, Request request) = 0;
  /// Instead of `begin`: the connection has gone meanwhile.
  virtual void give_up() = 0;
  /// At once, without a word.
  virtual void drop() = 0;
};

std::shared_ptr<BeastSocket> new_web_socket(boost::asio::io_context& context,
                                            const ListenerSettings& settings, SocketEnds ends);

}  // namespace fettle
