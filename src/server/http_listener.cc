#include "server/http_listener.h"

#include <atomic>
#include <list>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/text.h"
#include "server/web_socket.h"

namespace fettle {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

class Connection;

/// What all connections share. A connection may be held by somebody who still makes a reply when the
/// listener has closed, so it outlives the listener.
struct ListenerCore {
  explicit ListenerCore(const ListenerSettings& wanted) : settings(wanted) {}

  const ListenerSettings settings;
  asio::io_context context{1};
  /// While nobody has come, where nothing listens.
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> stays;
  HttpListener::Handler handler;
  std::atomic<size_t> viewers = 0;
  std::list<std::weak_ptr<Connection>> connections;  ///< the oldest first
  std::list<std::weak_ptr<BeastSocket>> sockets;
};

class Connection : public WebPeer, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ListenerCore> core, tcp::socket socket)
      : core_(std::move(core)), stream_(std::move(socket)), buffer_(buffer_bytes) {}

  /// The beginning of its only request has been read by somebody else.
  void begin_with(std::string_view bytes, std::string from) {
    is_for_one_ = true;
    from_ = std::move(from);
    buffer_.commit(asio::buffer_copy(buffer_.prepare(bytes.size()), asio::buffer(bytes)));
    read();
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(core_->settings.header_bytes));
    parser_->body_limit(core_->settings.body_bytes);
    is_idle_ = true;
    stream_.expires_after(core_->settings.request_limit);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](ErrorCode error, size_t) {
                       self->is_idle_ = false;
                       if (error)
                         self->refuse(error);
                       else
                         self->hand_over();
                     });
  }

  void refuse(int status, const char* why) { write(error_reply(status, why), false); }

  void reply(WebReply reply) override {
    asio::post(core_->context, [self = shared_from_this(), reply = std::move(reply)]() mutable {
      const bool stays = !self->is_for_one_ && self->parser_ && self->parser_->get().keep_alive() &&
                         reply.status < 400;
      self->write(std::move(reply), stays);
    });
  }

  void open_stream() override {
    asio::post(core_->context, [self = shared_from_this()] {
      if (self->is_gone_)
        return;
      self->is_viewer_ = true;
      ++self->core_->viewers;
      self->await_end();
    });
    std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
        "Connection: close\r\n";
    for (const auto& [name, value] : safety_fields())
      head += cat(name, ": ", value, "\r\n");
    send(head + "\r\n", {});
  }

  void send(std::string bytes, std::function<void()> sent) override {
    asio::post(core_->context, [self = shared_from_this(), bytes = std::move(bytes),
                                sent = std::move(sent)]() mutable {
      self->pieces_.emplace_back(std::move(bytes), std::move(sent));
      if (self->pieces_.size() == 1)
        self->send_piece();
    });
  }

  std::shared_ptr<WebSocket> open_socket(SocketEnds ends) override {
    const auto socket = new_web_socket(core_->context, core_->settings, std::move(ends));
    asio::post(core_->context, [self = shared_from_this(), socket] {
      if (self->is_gone_.exchange(true)) {
        socket->give_up();
        return;
      }
      std::erase_if(self->core_->sockets, [](const auto& each) { return each.expired(); });
      self->core_->sockets.push_back(socket);
      socket->begin(std::move(self->stream_), self->parser_->release());
    });
    return socket;
  }

  bool is_gone() const override { return is_gone_; }
  bool is_idle() const { return is_idle_; }

  void close() {
    if (is_gone_.exchange(true))
      return;
    if (is_viewer_)
      --core_->viewers;
    pieces_.clear();
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  static constexpr size_t buffer_bytes = 65'536;

  /// A reply to what could not be read, if there is somebody to read it.
  void refuse(const ErrorCode& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      refuse(431, "the header of the request is too large");
    else if (error == http::error::body_limit)
      refuse(413, "the body of the request is too large");
    else if (error != http::error::end_of_stream && error != http::error::partial_message &&
             error.category() == http::make_error_code(http::error::bad_method).category())
      refuse(400, "this is no request");
    else
      close();
  }

  std::string field(std::string_view name) const {
    const auto [from, to] = parser_->get().equal_range({name.data(), name.size()});
    // Of several, none may count: another program would read another one.
    if (from == to || std::next(from) != to)
      return {};
    return std::string(from->value());
  }

  void hand_over() {
    const auto& message = parser_->get();
    WebRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    request.host = field("Host");
    request.origin = field("Origin");
    request.fetch_site = field("Sec-Fetch-Site");
    request.cookie = field("Cookie");
    request.last_event_id = field("Last-Event-ID");
    request.body_bytes = message.body().size();
    request.content_type = field("Content-Type");
    request.key = field("Fettle-Key");
    request.wants_socket = beast::websocket::is_upgrade(message);
    request.protocols = field("Sec-WebSocket-Protocol");
    request.from = from_;
    if (request.method == "POST")
      request.body = message.body();
    stream_.expires_never();
    if (message.count("Origin") > 1 || message.count("Sec-Fetch-Site") > 1) {
      refuse(400, "a field of the header is given twice");
      return;
    }
    if (request.wants_socket && buffer_.size() > 0) {
      refuse(400, "more was sent before the answer");
      return;
    }
    core_->handler(std::move(request), shared_from_this());
  }

  void write(WebReply reply, bool stays) {
    if (is_gone_)
      return;
    response_.emplace(static_cast<http::status>(reply.status), 11, std::move(reply.body));
    response_->set(http::field::content_type, reply.content_type);
    for (const auto& [name, value] : safety_fields())
      response_->set(name, value);
    for (const auto& [name, value] : reply.fields)
      response_->set(name, value);
    response_->keep_alive(stays);
    response_->prepare_payload();
    stream_.expires_after(core_->settings.write_limit);
    http::async_write(stream_, *response_,
                      [self = shared_from_this(), stays](ErrorCode error, size_t) {
                        self->response_.reset();
                        if (error || !stays)
                          self->finish();
                        else
                          self->read();
                      });
  }

  /// Closing at once could take the reply away from who is still sending.
  void finish() {
    if (is_gone_)
      return;
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(closing_limit);
    drain();
  }

  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(drained_bytes),
                            [self = shared_from_this()](ErrorCode error, size_t count) {
                              self->drained_ += count;
                              if (error || self->drained_ > most_drained)
                                self->close();
                              else
                                self->drain();
                            });
  }

  /// A viewer says nothing more, so whatever is read is its end.
  void await_end() {
    stream_.expires_never();
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(1),
                            [self = shared_from_this()](ErrorCode, size_t) { self->close(); });
  }

  void send_piece() {
    if (is_gone_)
      return;
    stream_.expires_after(core_->settings.write_limit);
    asio::async_write(stream_, asio::buffer(pieces_.front().first),
                      [self = shared_from_this()](ErrorCode error, size_t) {
                        if (error || self->pieces_.empty()) {
                          self->close();
                          return;
                        }
                        const std::function<void()> sent = std::move(self->pieces_.front().second);
                        self->pieces_.pop_front();
                        if (sent)
                          sent();
                        if (!self->pieces_.empty())
                          self->send_piece();
                      });
  }

  static constexpr Duration closing_limit = 1s;
  static constexpr size_t drained_bytes = 16'384, most_drained = 4'194'304;

  const std::shared_ptr<ListenerCore> core_;  ///< ends last: the stream stands on it
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::list<std::pair<std::string, std::function<void()>>> pieces_;
  size_t drained_ = 0;
  std::atomic<bool> is_gone_ = false;
  bool is_viewer_ = false;
  bool is_idle_ = false;
  bool is_for_one_ = false;  ///< it ends with the reply
  std::string from_;         ///< who has made it, if others have handed it over
};

class BeastListener : public HttpListener {
 public:
  explicit BeastListener(const ListenerSettings& settings)
      : core_(std::make_shared<ListenerCore>(settings)), acceptor_(core_->context) {}
  ~BeastListener() override { close(); }

  Status bind(int port) {
    const tcp::endpoint address(asio::ip::address_v4::loopback(), static_cast<uint16_t>(port));
    ErrorCode error;
    acceptor_.open(address.protocol(), error);
    if (!error)
      acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error)
      acceptor_.bind(address, error);
    if (!error)
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return world_error(
          cat("cannot listen at `127.0.0.1:", port, "`: ", lower_case(error.message())));
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  int port() const override { return port_; }
  size_t viewers() const override { return core_->viewers; }

  void adopt(Descriptor socket, std::string bytes, std::string from) override {
    const auto number = std::make_shared<Descriptor>(std::move(socket));
    asio::post(core_->context, [this, number, bytes = std::move(bytes), from = std::move(from)] {
      // It may be a local one, of the process that speaks TLS; what is done with it is the same.
      tcp::socket adopted(core_->context);
      ErrorCode error;
      adopted.assign(tcp::v4(), number->get(), error);
      if (error)
        return;
      static_cast<void>(number->release());
      take(std::move(adopted), bytes, from);
    });
  }

  void serve(Handler handler) override {
    core_->handler = std::move(handler);
    if (acceptor_.is_open())
      accept();
    core_->stays.emplace(core_->context.get_executor());
    thread_ = std::jthread([core = core_] { core->context.run(); });
  }

  void close() override {
    if (!thread_.joinable())
      return;
    asio::post(core_->context, [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const std::weak_ptr<Connection>& each : core_->connections)
        if (const std::shared_ptr<Connection> connection = each.lock())
          connection->close();
      for (const std::weak_ptr<BeastSocket>& each : core_->sockets)
        if (const std::shared_ptr<BeastSocket> socket = each.lock())
          socket->drop();
      core_->stays.reset();
    });
    thread_.join();
    core_->handler = {};
  }

 private:
  void accept() {
    acceptor_.async_accept([this](ErrorCode error, tcp::socket socket) {
      if (!acceptor_.is_open())
        return;
      if (!error)
        take(std::move(socket));
      // Without a descriptor for it, a connection would be offered again at once.
      if (!error || error == asio::error::connection_aborted) {
        accept();
        return;
      }
      pause_.expires_after(pause_without_room);
      pause_.async_wait([this](ErrorCode ended) {
        if (!ended)
          accept();
      });
    });
  }

  /// `bytes`: those of the only request of one that was adopted, and who has made it.
  void take(tcp::socket socket, std::optional<std::string_view> bytes = {},
            const std::string& from = {}) {
    auto& all = core_->connections;
    std::erase_if(all, [](const std::weak_ptr<Connection>& each) {
      const std::shared_ptr<Connection> connection = each.lock();
      return connection == nullptr || connection->is_gone();
    });
    const auto connection = std::make_shared<Connection>(core_, std::move(socket));
    if (all.size() >= core_->settings.connections && !drop_idle()) {
      connection->refuse(503, "there are too many connections to this server");
      return;
    }
    all.push_back(connection);
    if (bytes)
      connection->begin_with(*bytes, from);
    else
      connection->read();
  }

  /// Closes the oldest connection that asks for nothing. False: there is none.
  bool drop_idle() {
    for (auto each = core_->connections.begin(); each != core_->connections.end(); ++each)
      if (const std::shared_ptr<Connection> connection = each->lock();
          connection != nullptr && connection->is_idle()) {
        connection->close();
        core_->connections.erase(each);
        return true;
      }
    return false;
  }

  static constexpr Duration pause_without_room = 100ms;

  const std::shared_ptr<ListenerCore> core_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{core_->context};
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::open(int port,
                                                         const ListenerSettings& settings) {
  auto listener = std::make_unique<BeastListener>(settings);
  TRY(listener->bind(port));
  return listener;
}

std::unique_ptr<HttpListener> HttpListener::for_handed(const ListenerSettings& settings) {
  return std::make_unique<BeastListener>(settings);
}

}  // namespace fettle
