#include "base/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

/// For the other side to close the connection, once it has its answer.
constexpr Duration closing_limit = 1s;
/// When the system has no descriptor or no memory for another connection.
constexpr Duration pause_without_room = 100ms;
constexpr int waiting_connections = 64;

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

std::string text_of_reply(const HttpReply& reply) {
  return cat("HTTP/1.1 ", reply.status, " ", reason_phrase(reply.status),
             "\r\nContent-Type: ", reply.content_type, "\r\nContent-Length: ", reply.body.size(),
             reply.status == 405 ? "\r\nAllow: GET" : "", "\r\nConnection: close\r\n\r\n",
             reply.body);
}

bool is_passing_failure() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& address, Answer answer,
                                                     const HttpServerSettings& settings) {
  Descriptor listener = TRY(listen_at(TRY(parse_listen_address(address)), waiting_connections));
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(listener), std::move(answer), settings));
}

HttpServer::HttpServer(Descriptor listener, Answer answer, const HttpServerSettings& settings)
    : settings_(settings),
      answer_(std::move(answer)),
      listener_(std::move(listener)),
      port_(port_of(listener_)),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

HttpServer::~HttpServer() {
  thread_.request_stop();
  thread_.join();
}

void HttpServer::serve(const std::stop_token& stop) {
  Poller poller(stop);
  while (!stop.stop_requested()) {
    std::vector<pollfd> waited{{listener_.get(), POLLIN, 0}};
    Instant first_end = Instant::max();
    for (const Connection& each : connections_) {
      waited.push_back(
          {each.socket.get(), static_cast<short>(each.reply.empty() ? POLLIN : POLLOUT), 0});
      first_end = std::min(first_end, each.ends);
    }
    const Duration limit =
        connections_.empty() ? for_ever : std::max<Duration>(0s, first_end - instant_from_clock());
    if (const Result<int> ready = poller.wait(waited, limit); !ready) {
      if (is_cancelled(ready.error()) || !pause_for(pause_without_room, stop))
        return;
      continue;
    }
    const Instant now = instant_from_clock();
    auto events = waited.begin() + 1;
    std::erase_if(connections_, [&](Connection& each) {
      const int come = (events++)->revents;
      return now >= each.ends || (come != 0 && !go_on(each, come));
    });
    if (waited.front().revents != 0)
      accept_all(stop);
  }
}

void HttpServer::accept_all(const std::stop_token& stop) {
  for (int i = 0; i < waiting_connections; ++i) {
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.is_open()) {
      // The listener would stay readable.
      if (!is_passing_failure() && errno != ECONNABORTED)
        static_cast<void>(!pause_for(pause_without_room, stop));
      return;
    }
    if (connections_.size() >= settings_.connections)
      connections_.pop_front();
    Connection& made = connections_.emplace_back();
    made.socket = std::move(client);
    made.ends = instant_from_clock() + settings_.connection_limit;
  }
}

bool HttpServer::go_on(Connection& connection, int events) {
  if (!connection.reply.empty())
    return (events & (POLLERR | POLLHUP | POLLNVAL)) == 0 && send_rest(connection);
  return receive(connection);
}

bool HttpServer::receive(Connection& connection) {
  std::array<char, 4096> buffer{};
  const ssize_t count = recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (count < 0)
    return is_passing_failure();
  if (count == 0)
    return false;
  if (connection.is_answered)
    return true;
  std::string& request = connection.request;
  request.append(buffer.data(), static_cast<size_t>(count));
  const size_t end = request.find("\r\n\r\n");
  if (end == request.npos && request.size() <= settings_.request_limit)
    return true;
  const bool is_whole = end != request.npos && end + 4 <= settings_.request_limit;
  connection.reply = text_of_reply(is_whole ? reply_to(std::string_view(request).substr(0, end))
                                            : HttpReply{.status = 431});
  connection.is_answered = true;
  request = {};
  return send_rest(connection);
}

bool HttpServer::send_rest(Connection& connection) const {
  std::string& rest = connection.reply;
  const ssize_t count = send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
  if (count < 0)
    return is_passing_failure();
  rest.erase(0, static_cast<size_t>(count));
  if (rest.empty()) {
    shutdown(connection.socket.get(), SHUT_WR);
    connection.ends = std::min(connection.ends, instant_from_clock() + closing_limit);
  }
  return true;
}

HttpReply HttpServer::reply_to(std::string_view request) const {
  const std::vector<std::string_view> words = split(request.substr(0, request.find("\r\n")), ' ');
  if (words.size() != 3 || !words[1].starts_with('/') || !words[2].starts_with("HTTP/1."))
    return {.status = 400};
  if (words[0] != "GET")
    return {.status = 405};
  return answer_(words[1].substr(0, words[1].find('?')));
}

}  // namespace fettle
