#include "remote/server_line.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration connect_limit = 10s, hand_shake_limit = 15s;

struct FoundRelease {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};

/// Closed, with `errno`, if nobody answers there.
Descriptor connected_to(const sockaddr* address, socklen_t size) {
  Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int failure = 0;
  if (!socket.is_open() || (::connect(socket.get(), address, size) != 0 && errno != EINPROGRESS)) {
    failure = errno;
  } else if (!await_events(socket.get(), POLLOUT, connect_limit)) {
    failure = ETIMEDOUT;
  } else {
    socklen_t length = sizeof failure;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &length);
  }
  if (failure != 0)
    socket.close();
  errno = failure;
  return socket;
}

Error no_answer(const ServerChoice& server, std::string_view why) {
  const bool says_port = server.url.find(cat(":", server.address.port)) != server.url.npos;
  return world_error(cat("no server answers at `", server.url, "`",
                         says_port ? "" : cat(" (port ", server.address.port, ")"), ": ", why,
                         "; `fettle serve` starts one, `--server local` does without"));
}

/// A server in clear text is at 127.0.0.1, whatever names mean here.
Result<Descriptor> connect_to(const ServerChoice& server) {
  Descriptor socket;
  if (!server.address.is_secured) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(server.address.port));
    socket = connected_to(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    addrinfo hints{}, *answer = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const int failure =
        getaddrinfo(server.address.host.c_str(), cat(server.address.port).c_str(), &hints, &answer);
    if (failure != 0)
      return no_answer(server, cat("no address is known of `", printable(server.address.host),
                                   "` (", lower_case(gai_strerror(failure)), ")"));
    const std::unique_ptr<addrinfo, FoundRelease> found(answer);
    for (const addrinfo* each = answer; each != nullptr && !socket.is_open(); each = each->ai_next)
      socket = connected_to(each->ai_addr, each->ai_addrlen);
  }
  if (!socket.is_open())
    return no_answer(server, lower_case(std::strerror(errno)));
  const int yes = 1, idle_seconds = 30, seconds_between = 10;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds_between, sizeof seconds_between);
  return socket;
}

Error untrusted(const ServerChoice& server, const TlsStream& tls) {
  const std::string at = cat("the server at `", server.url, "`");
  switch (tls.fault()) {
    case TlsFault::clear_text:
      return user_error(cat(at,
                            " speaks no TLS: it was started without `--tls-cert` and `--tls-key`",
                            server.address.host == "127.0.0.1" || server.address.host == "localhost"
                                ? ", so its address begins with `http://`"
                                : ""));
    case TlsFault::unknown_authority:
      return user_error(cat(at, " is not trusted: ", tls.failure(),
                            server.authorities.empty()
                                ? "; if you trust it, name its certificate: `fettle context add "
                                  "NAME URL --tls-ca FILE`, or $FETTLE_TLS_CA"
                                : "; `--tls-ca` or $FETTLE_TLS_CA named another one"));
    case TlsFault::other_name:
      return user_error(
          cat(at, " is not trusted: ", tls.failure(), "; call it by a name that it has"));
    case TlsFault::out_of_date:
      return user_error(cat(at, " is not trusted: ", tls.failure()));
    default:
      return world_error(cat("no TLS with the server at `", server.url, "`: ", tls.failure()));
  }
}

Result<Line> secured_line(const ServerChoice& server, Descriptor socket) {
  TlsStream tls = TRY(TlsStream::connect(socket.get(), {server.address.host, server.authorities}));
  const auto end = std::chrono::steady_clock::now() + hand_shake_limit;
  for (TlsStep step = tls.shake_hands(); step != TlsStep::done; step = tls.shake_hands()) {
    if (events_of(step) == 0)
      return untrusted(server, tls);
    const Duration left = end - std::chrono::steady_clock::now();
    if (left <= Duration(0) || !await_events(socket.get(), events_of(step), left))
      return world_error(cat("the server at `", server.url, "` does not answer"));
  }
  return Line(std::move(socket), std::move(tls));
}

/// Whether a reply has as many bytes as it announces. One that announces nothing ends with its
/// connection, which a proxy may keep open.
bool is_whole(std::string_view reply) {
  const size_t body = reply.find("\r\n\r\n");
  if (body == reply.npos)
    return false;
  constexpr std::string_view name = "\r\ncontent-length:";
  const std::string header = lower_case(reply.substr(0, body + 2));
  const size_t at = header.find(name);
  uint64_t length = 0;
  if (at == header.npos)
    return false;
  const std::string_view digits = trim(std::string_view(header).substr(
      at + name.size(), header.find('\r', at + 2) - at - name.size()));
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return failure == std::errc() && end == digits.data() + digits.size() &&
         reply.size() - body - 4 >= length;
}

/// The server's own words, which are in the envelope of errors.
Error refusal_in(const ServerChoice& server, std::string_view reply) {
  const size_t body = reply.find("\r\n\r\n");
  const Result<Value> told = read_json(body == reply.npos ? "" : reply.substr(body + 4));
  const std::string_view message = told ? told->at("error").text_at("message") : "";
  if (message.empty())
    return world_error(cat("what answers at `", server.url, "` is no server of fettle"));
  return user_error(cat("the server at `", server.url, "` refuses: ", printable(message)));
}

}  // namespace

Result<Line> secured_again(Line line, const ServerChoice& server) {
  Descriptor socket = line.leave_tls(hand_shake_limit);
  if (!socket.is_open())
    return lost(server);
  return secured_line(server, std::move(socket));
}

Error error_told(std::string_view json) {
  const Result<Value> told = read_json(json);
  if (!told)
    return world_error("the server told an error that is none");
  return Error(told->text_at("blame") == "user" ? Blame::user : Blame::world,
               std::string(told->text_at("message")));
}

std::string told_form(const Error& error) {
  return write_json(Value::dict(
      {{"message", to_string(error)}, {"blame", error.blame == Blame::user ? "user" : "world"}}));
}

Error lost(const ServerChoice& server) {
  return world_error(cat("the connection to the server at `", server.url, "` was lost"));
}

Result<Line> line_to_server(const ServerChoice& server, std::string_view version,
                            bool* is_refused_for_now, std::string_view target) {
  Descriptor socket = TRY(connect_to(server));
  Line line = TRY(server.address.is_secured ? secured_line(server, std::move(socket))
                                            : Result<Line>(Line(std::move(socket))));
  line.send_packed(
      upgrade_request(server.address.text(), server.token, version, server.address.path, target));
  if (!line.push_all(hand_shake_limit))
    return lost(server);
  std::string reply;
  size_t end = reply.npos;
  while ((end = reply.find("\r\n\r\n")) == reply.npos && reply.size() < piece_bytes) {
    const std::string bytes = line.receive(hand_shake_limit);
    if (bytes.empty() && !line.is_gone())
      return world_error(cat("the server at `", server.url, "` does not answer"));
    if (bytes.empty())
      break;
    reply += bytes;
  }
  if (!reply.starts_with("HTTP/1.1 101 ")) {
    for (std::string more = " "; !more.empty() && !is_whole(reply) && reply.size() < piece_bytes;
         reply += more)
      more = line.receive(hand_shake_limit);
    if (is_refused_for_now != nullptr)
      *is_refused_for_now = reply.starts_with("HTTP/1.1 503 ");
    return reply.empty() ? lost(server) : refusal_in(server, reply);
  }
  line.add_received(std::string_view(reply).substr(end + 4));
  return line;
}

}  // namespace fettle
