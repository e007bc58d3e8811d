#pragma once
/// Answers programs that ask how this process fares: probes, and collectors of metrics.
///
///   const auto server = TRY(HttpServer::open(":8000", [](std::string_view path) {
///     return path == "/healthz" ? HttpReply{.body = "ok\n"} : HttpReply{.status = 404};
///   }));
///
/// The obvious server answers one connection after the other. Then somebody who connects and says
/// nothing keeps a probe waiting, and the process is restarted though it is well. So one thread has
/// all connections, none of which is ever waited for alone; each has a limit, and when there are too
/// many the oldest one goes.
///
/// It knows GET and one request a connection. Anybody who reaches the address may ask, so nothing
/// that is secret may be answered.

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "base/listener.h"
#include "base/time.h"

namespace fettle {

struct HttpReply {
  int status = 200;
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
};

struct HttpServerSettings {
  Duration connection_limit = 5s;  ///< from its beginning until it is answered
  size_t request_limit = 8192;     ///< in bytes, with headers
  size_t connections = 64;         ///< at once
};

class HttpServer {
 public:
  /// The path is without its query. Called on the server's thread.
  using Answer = std::function<HttpReply(std::string_view path)>;

  /// Port 0: any that is free. Errors: the address is none (`Blame::user`), or is not to be had.
  static Result<std::unique_ptr<HttpServer>> open(const std::string& address, Answer answer,
                                                  const HttpServerSettings& settings = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  /// It is read until there is a whole request, then written, then read until the other side has
  /// closed it: closing first could take the answer away from who is still sending.
  struct Connection {
    Descriptor socket{};
    Instant ends{};
    std::string request{};
    std::string reply{};  ///< what is left of it
    bool is_answered = false;
  };

  HttpServer(Descriptor listener, Answer answer, const HttpServerSettings& settings);
  void serve(const std::stop_token& stop);
  void accept_all(const std::stop_token& stop);
  /// What has come, or may go. False: the connection is done.
  bool go_on(Connection& connection, int events);
  bool receive(Connection& connection);
  bool send_rest(Connection& connection) const;
  HttpReply reply_to(std::string_view request) const;

  const HttpServerSettings settings_;
  const Answer answer_;
  Descriptor listener_;
  int port_ = 0;
  std::list<Connection> connections_;  ///< the oldest first
  std::jthread thread_;
};

}  // namespace fettle
