#include "server/web_socket.h"

#include <list>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

namespace fettle {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using ErrorCode = boost::system::error_code;

class ServedSocket : public BeastSocket, public std::enable_shared_from_this<ServedSocket> {
 public:
  ServedSocket(asio::io_context& context, const ListenerSettings& settings, SocketEnds ends)
      : context_(context),
        idle_limit_(settings.socket_idle),
        told_(std::move(ends.told)),
        gone_(std::move(ends.gone)),
        input_(context, asio::local::stream_protocol(), ends.input.release()) {}

  void begin(beast::tcp_stream stream, Request request) override {
    request_ = std::move(request);
    stream.expires_never();  // the socket has limits of its own
    socket_.emplace(std::move(stream));
    websocket::stream_base::timeout limits;
    limits.handshake_timeout = handshake_limit;
    limits.idle_timeout = idle_limit_;
    limits.keep_alive_pings = true;
    socket_->set_option(limits);
    socket_->set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
      response.set(http::field::sec_websocket_protocol, terminal_protocol);
      for (const auto& [name, value] : safety_fields())
        response.set(name, value);
    }));
    socket_->read_message_max(most_of_message);
    socket_->binary(true);
    socket_->async_accept(request_, [self = shared_from_this()](ErrorCode error) {
      if (error || self->is_gone_) {
        self->drop();
        return;
      }
      self->is_open_ = true;
      self->read();
      self->send_piece();
    });
  }

  void give_up() override { end(); }

  void drop() override {
    if (socket_)
      beast::get_lowest_layer(*socket_).close();
    end();
  }

  void send(std::string bytes, SocketForm form, std::function<void()> sent) override {
    asio::post(context_, [self = shared_from_this(), bytes = std::move(bytes), form,
                          sent = std::move(sent)]() mutable {
      self->pieces_.push_back({std::move(bytes), form, std::move(sent)});
      self->send_piece();
    });
  }

  void close() override {
    asio::post(context_, [self = shared_from_this()] {
      self->is_closing_ = true;
      self->send_piece();
    });
  }

  bool is_gone() const override { return is_gone_; }

 private:
  struct Piece {
    std::string bytes;
    SocketForm form;
    std::function<void()> sent;
  };

  void read() {
    socket_->async_read(buffer_, [self = shared_from_this()](ErrorCode error, size_t) {
      if (error || self->is_gone_)
        self->drop();
      else
        self->take();
    });
  }

  void take() {
    if (!socket_->got_text()) {
      // What types goes on when there is room for it. Whoever reads may have ended before.
      asio::async_write(input_, buffer_.data(), [self = shared_from_this()](ErrorCode, size_t) {
        self->buffer_.clear();
        if (!self->is_gone_)
          self->read();
      });
      return;
    }
    const std::string said = beast::buffers_to_string(buffer_.data());
    buffer_.clear();
    if (told_(said))
      read();
    else
      refuse();
  }

  /// What we do not understand has not been sent by our page.
  void refuse() {
    // The piece that is on its way is read until it has gone.
    pieces_.erase(is_sending_ ? std::next(pieces_.begin()) : pieces_.begin(), pieces_.end());
    close_as(websocket::close_code::policy_error);
  }

  void close_as(websocket::close_code code) {
    if (is_gone_ || !is_open_ || is_closed_)
      return;
    is_closed_ = true;
    // Its limit is that of a handshake.
    socket_->async_close(code, [self = shared_from_this()](ErrorCode) { self->drop(); });
  }

  void send_piece() {
    if (is_gone_ || !is_open_ || is_closed_ || is_sending_)
      return;
    if (pieces_.empty()) {
      if (is_closing_)
        close_as(websocket::close_code::normal);
      return;
    }
    is_sending_ = true;
    socket_->text(pieces_.front().form == SocketForm::text);
    socket_->async_write(asio::buffer(pieces_.front().bytes),
                         [self = shared_from_this()](ErrorCode error, size_t) {
                           self->is_sending_ = false;
                           if (error) {
                             // A close ends it by itself, and the rest of a piece with it.
                             if (!self->is_closed_)
                               self->drop();
                             return;
                           }
                           const std::function<void()> sent = std::move(self->pieces_.front().sent);
                           self->pieces_.pop_front();
                           if (sent)
                             sent();
                           self->send_piece();
                         });
  }

  void end() {
    if (is_gone_.exchange(true))
      return;
    ErrorCode ignored;
    input_.close(ignored);
    gone_();
    // They hold whoever holds us.
    told_ = {};
    gone_ = {};
    // Its timers would keep the thread of the listener for as long as they last.
    asio::post(context_, [self = shared_from_this()] { self->socket_.reset(); });
  }

  static constexpr Duration handshake_limit = 10s;
  static constexpr size_t most_of_message = 65'536;

  asio::io_context& context_;
  const Duration idle_limit_;
  std::function<bool(std::string_view)> told_;
  std::function<void()> gone_;
  asio::local::stream_protocol::socket input_;
  Request request_;
  std::optional<websocket::stream<beast::tcp_stream>> socket_;
  beast::flat_buffer buffer_{most_of_message + 1};
  std::list<Piece> pieces_;
  std::atomic<bool> is_gone_ = false;
  bool is_open_ = false, is_sending_ = false;
  bool is_closing_ = false;  ///< when all is sent
  bool is_closed_ = false;   ///< we have said so
};

}  // namespace

std::shared_ptr<BeastSocket> new_web_socket(asio::io_context& context,
                                            const ListenerSettings& settings, SocketEnds ends) {
  return std::make_shared<ServedSocket>(context, settings, std::move(ends));
}

}  // namespace fettle
