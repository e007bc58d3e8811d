#include "base/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

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

struct AddressRelease {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using FoundAddresses = std::unique_ptr<addrinfo, AddressRelease>;

Result<FoundAddresses> find_addresses(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(),
                                  address.port.c_str(), &hints, &found);
  if (failure != 0)
    return user_error(cat("no address is known of `", address.host, "`: ", gai_strerror(failure)));
  return FoundAddresses(found);
}

/// Those of one family first. Of all addresses of a machine, that of IPv6 takes connections of both;
/// a name is reached by IPv4 more often.
std::vector<const addrinfo*> in_order(const addrinfo& found, int first_family) {
  std::vector<const addrinfo*> all;
  for (const addrinfo* each = &found; each != nullptr; each = each->ai_next)
    all.push_back(each);
  std::ranges::stable_partition(
      all, [&](const addrinfo* each) { return each->ai_family == first_family; });
  return all;
}

/// Closed, with `errno`, if the address is not to be had. One of IPv6 that stands for all addresses
/// also takes connections of IPv4.
Descriptor listen_at(const addrinfo& address) {
  Descriptor listener(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open())
    return listener;
  const int on = 1, off = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(listener.get(), address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(listener.get(), waiting_connections) == 0)
    return listener;
  const int failure = errno;
  listener.close();
  errno = failure;
  return listener;
}

int port_of_listener(const Descriptor& listener) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

bool is_passing_failure() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Error failure = user_error(cat("`", text,
                                       "` is no address to listen at, such as `:8080` or "
                                       "`127.0.0.1:8080`"));
  const size_t colon = text.rfind(':');
  if (colon == text.npos)
    return failure;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets)
    host = host.substr(1, host.size() - 2);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() ||
      host.find_first_of("[] ") != host.npos || (!has_brackets && host.find(':') != host.npos))
    return failure;
  return ListenAddress{std::string(host), std::string(port)};
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& address, Answer answer,
                                                     const HttpServerSettings& settings) {
  const ListenAddress asked = TRY(parse_listen_address(address));
  const FoundAddresses found = TRY(find_addresses(asked));
  Descriptor listener;
  for (const addrinfo* each : in_order(*found, asked.host.empty() ? AF_INET6 : AF_INET))
    // Where one is taken, another family would be only half of what was asked for.
    if (listener = listen_at(*each); listener.is_open() || errno == EADDRINUSE)
      break;
  if (!listener.is_open())
    return world_error(cat("cannot listen at `", address, "`: ", lower_case(std::strerror(errno))));
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(listener), std::move(answer), settings));
}

HttpServer::HttpServer(Descriptor listener, Answer answer, const HttpServerSettings& settings)
    : settings_(settings),
      answer_(std::move(answer)),
      listener_(std::move(listener)),
      port_(port_of_listener(listener_)),
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
