#include "base/http_connection.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/socket.h>

#include "base/http_library.h"
#include "base/http_tls.h"
#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

constexpr size_t longest_head = 64 * 1024;
constexpr int stop_interval_ms = 20;  ///< while it connects

Error silent(Duration limit) {
  return world_error(cat("the other side sent nothing for ", to_string(limit)));
}

}  // namespace

struct HttpConnection::State {
  explicit State(const HttpLibrary& library)
      : curl(library), multi(library.multi_init()), easy(library.easy_init()) {}
  ~State() {
    curl.multi_remove_handle(multi, easy);
    curl.easy_cleanup(easy);
    curl.multi_cleanup(multi);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  Status connect(const HttpRequest& request, const std::stop_token& stop);
  /// Bytes that have come by then.
  Result<size_t> read(std::span<char> into, Duration limit, const std::stop_token& stop);

  const HttpLibrary& curl;
  CURLM* multi;  ///< a connection can be given up in the middle only through one
  CURL* easy;
  int socket = -1;
  Duration silence{0};
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
    const Duration limit = state_->silence > 0s ? state_->silence : for_ever;
    if (code == CURLE_AGAIN && !TRY(await_descriptor(state_->socket, POLLOUT, limit, stop)))
      return silent(limit);
    if (code == CURLE_AGAIN)
      continue;
    if (code != CURLE_OK)
      return world_error(cat("cannot write: ", state_->curl.easy_strerror(code)));
    bytes.remove_prefix(sent);
  }
  return {};
}

Result<size_t> HttpConnection::read(std::span<char> into, std::stop_token stop) {
  return state_->read(into, for_ever, stop);
}

Result<size_t> HttpConnection::write_ready(std::string_view bytes) {
  size_t sent = 0;
  const CURLcode code = state_->curl.easy_send(state_->easy, bytes.data(), bytes.size(), &sent);
  if (code == CURLE_AGAIN)
    return size_t{0};
  if (code != CURLE_OK)
    return world_error(cat("cannot write: ", state_->curl.easy_strerror(code)));
  return sent;
}

Result<std::optional<size_t>> HttpConnection::read_ready(std::span<char> into) {
  if (!state_->ahead.empty())
    return std::optional(TRY(state_->read(into, for_ever, {})));
  size_t received = 0;
  const CURLcode code = state_->curl.easy_recv(state_->easy, into.data(), into.size(), &received);
  if (code == CURLE_AGAIN)
    return std::optional<size_t>();
  if (code != CURLE_OK)
    return world_error(cat("cannot read: ", state_->curl.easy_strerror(code)));
  return std::optional(received);
}

Result<size_t> HttpConnection::State::read(std::span<char> into, Duration limit,
                                           const std::stop_token& stop) {
  if (!ahead.empty()) {
    const size_t count = std::min(into.size(), ahead.size());
    std::memcpy(into.data(), ahead.data(), count);
    ahead.erase(0, count);
    return count;
  }
  while (true) {
    size_t received = 0;
    const CURLcode code = curl.easy_recv(easy, into.data(), into.size(), &received);
    if (code == CURLE_OK)
      return received;
    if (code != CURLE_AGAIN)
      return world_error(cat("cannot read: ", curl.easy_strerror(code)));
    if (!TRY(await_descriptor(socket, POLLIN, limit, stop)))
      return silent(limit);
  }
}

Status HttpConnection::State::connect(const HttpRequest& request, const std::stop_token& stop) {
  const auto set = [this](CURLoption option, auto value) { curl.easy_setopt(easy, option, value); };
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, keep_alive_idle);
  set(CURLOPT_TCP_KEEPINTVL, keep_alive_interval);
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROXY, "");
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(request.connect_limit).count();
  set(CURLOPT_CONNECTTIMEOUT_MS, limit > 0 ? static_cast<long>(limit) : no_limit_ms);
  if (!request.unix_socket.empty())
    set(CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  set_tls(curl, easy, request.tls);
  silence = request.silence_limit;
  curl.multi_add_handle(multi, easy);
  for (int running = 1, left = 0; running > 0;) {
    if (stop.stop_requested())
      return cancelled_error();
    curl.multi_perform(multi, &running);
    if (const CURLMsg* const message = curl.multi_info_read(multi, &left);
        message != nullptr && message->data.result != CURLE_OK)
      return world_error(cat("cannot connect: ", curl.easy_strerror(message->data.result)));
    if (running > 0)
      curl.multi_poll(multi, nullptr, 0, stop_interval_ms, nullptr);
  }
  curl_socket_t connected = -1;
  curl.easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &connected);
  socket = connected;
  return {};
}

Result<HttpConnection> HttpConnection::upgrade(const HttpRequest& request, std::stop_token stop) {
  const HttpLibrary& curl = *TRY(http_library());
  auto state = std::make_unique<State>(curl);
  TRY(state->connect(request, stop));
  HttpConnection connection(std::move(state));
  const Duration silence = request.silence_limit > 0s ? request.silence_limit : for_ever;

  const size_t host = request.url.find("://") + 3;
  const size_t path = std::min(request.url.find('/', host), request.url.size());
  const bool names_protocol = std::ranges::any_of(
      request.headers, [](const HttpHeader& header) { return header.name == "Upgrade"; });
  std::string head =
      cat(request.method, " ", path < request.url.size() ? request.url.substr(path) : "/",
          " HTTP/1.1\r\nHost: ", request.url.substr(host, path - host),
          "\r\nConnection: Upgrade\r\nContent-Length: ", request.body.size(), "\r\n",
          names_protocol ? "" : "Upgrade: tcp\r\n");
  for (const HttpHeader& header : request.headers)
    head += header.name + ": " + header.value + "\r\n";
  TRY(connection.write(head + "\r\n" + request.body, stop));

  std::string answer;
  size_t end = answer.npos;
  while (end == answer.npos) {
    std::array<char, 4096> buffer{};
    const size_t count = TRY(connection.state_->read(buffer, silence, stop));
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
