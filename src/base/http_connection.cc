#include "base/http_connection.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

#include "base/http_library.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t longest_head = 64 * 1024;
constexpr int stop_interval_ms = 50;

/// Waits until the socket is ready; looks at `stop` again and again.
Status await_socket(int socket, short events, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waited{socket, events, 0};
    const int ready = poll(&waited, 1, stop_interval_ms);
    if (ready > 0)
      return {};
    if (ready < 0 && errno != EINTR)
      return world_error(cat("cannot wait for a connection: ", std::strerror(errno)));
  }
  return cancelled_error();
}

}  // namespace

struct HttpConnection::State {
  explicit State(const HttpLibrary& library) : curl(library), easy(library.easy_init()) {}
  ~State() { curl.easy_cleanup(easy); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  const HttpLibrary& curl;
  CURL* easy;
  int socket = -1;
  std::string ahead;  ///< read with the answer's head, not yet asked for
};

HttpConnection::HttpConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
int HttpConnection::descriptor() const { return state_->socket; }
void HttpConnection::finish_writing() { shutdown(state_->socket, SHUT_WR); }

Status HttpConnection::write(std::string_view bytes, std::stop_token stop) {
  while (!bytes.empty()) {
    size_t sent = 0;
    const CURLcode code = state_->curl.easy_send(state_->easy, bytes.data(), bytes.size(), &sent);
    if (code == CURLE_AGAIN)
      TRY(await_socket(state_->socket, POLLOUT, stop));
    else if (code != CURLE_OK)
      return world_error(cat("cannot write: ", state_->curl.easy_strerror(code)));
    bytes.remove_prefix(sent);
  }
  return {};
}

Result<size_t> HttpConnection::read(std::span<char> into, std::stop_token stop) {
  if (!state_->ahead.empty()) {
    const size_t count = std::min(into.size(), state_->ahead.size());
    std::memcpy(into.data(), state_->ahead.data(), count);
    state_->ahead.erase(0, count);
    return count;
  }
  while (true) {
    size_t received = 0;
    const CURLcode code = state_->curl.easy_recv(state_->easy, into.data(), into.size(), &received);
    if (code == CURLE_OK)
      return received;
    if (code != CURLE_AGAIN)
      return world_error(cat("cannot read: ", state_->curl.easy_strerror(code)));
    TRY(await_socket(state_->socket, POLLIN, stop));
  }
}

Result<HttpConnection> HttpConnection::upgrade(const HttpRequest& request, std::stop_token stop) {
  const HttpLibrary& curl = *TRY(http_library());
  auto state = std::make_unique<State>(curl);
  CURL* const easy = state->easy;
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl.easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl.easy_setopt(easy, CURLOPT_PROXY, "");
  curl.easy_setopt(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(
          std::chrono::ceil<std::chrono::milliseconds>(request.connect_limit).count()));
  if (!request.unix_socket.empty())
    curl.easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  if (!request.tls.authorities.empty())
    curl.easy_setopt(easy, CURLOPT_CAINFO, request.tls.authorities.c_str());
  if (!request.tls.certificate.empty())
    curl.easy_setopt(easy, CURLOPT_SSLCERT, request.tls.certificate.c_str());
  if (!request.tls.key.empty())
    curl.easy_setopt(easy, CURLOPT_SSLKEY, request.tls.key.c_str());
  const CURLcode connected = curl.easy_perform(easy);
  if (connected != CURLE_OK)
    return world_error(cat("cannot connect: ", curl.easy_strerror(connected)));
  curl_socket_t socket = -1;
  curl.easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  state->socket = socket;
  HttpConnection connection(std::move(state));

  const size_t host = request.url.find("://") + 3;
  const size_t path = std::min(request.url.find('/', host), request.url.size());
  std::string head = cat(
      request.method, " ", path < request.url.size() ? request.url.substr(path) : "/",
      " HTTP/1.1\r\nHost: ", request.url.substr(host, path - host),
      "\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: ", request.body.size(), "\r\n");
  for (const HttpHeader& header : request.headers)
    head += header.name + ": " + header.value + "\r\n";
  TRY(connection.write(head + "\r\n" + request.body, stop));

  std::string answer;
  size_t end = answer.npos;
  while (end == answer.npos) {
    std::array<char, 4096> buffer{};
    const size_t count = TRY(connection.read(buffer, stop));
    answer.append(buffer.data(), count);
    end = answer.find("\r\n\r\n");
    if (end == answer.npos && (count == 0 || answer.size() > longest_head))
      return world_error("the answer to a request for a stream ended in its head");
  }
  const std::string_view line = std::string_view(answer).substr(0, answer.find('\r'));
  const std::string_view status = line.substr(std::min(line.find(' ') + 1, line.size()), 3);
  std::string rest = answer.substr(end + 4);
  if (status != "101" && status != "200")
    return world_error(cat("a stream was refused: ", line, rest.empty() ? "" : ": ", trim(rest)));
  connection.state_->ahead = std::move(rest);
  return connection;
}

}  // namespace fettle
