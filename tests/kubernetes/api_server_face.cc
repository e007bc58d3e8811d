#include "tests/kubernetes/api_server_face.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "base/text.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

constexpr int look_interval_ms = 10;

bool send_all(int client, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string header_in(std::string_view head, std::string_view name) {
  for (const std::string_view line : split(head, '\n'))
    if (const size_t colon = line.find(':');
        colon != line.npos && lower_case(line.substr(0, colon)) == name)
      return std::string(trim(line.substr(colon + 1)));
  return {};
}

ApiRequest request_of(std::string_view head, std::string_view body) {
  const std::vector<std::string_view> words = split(head.substr(0, head.find('\r')), ' ');
  ApiRequest request{.method = std::string(words[0]),
                     .target = std::string(words.size() > 1 ? words[1] : "/"),
                     .content_type = header_in(head, "content-type"),
                     .accept = header_in(head, "accept"),
                     .token = header_in(head, "authorization"),
                     .user_agent = header_in(head, "user-agent"),
                     .body = std::string(body)};
  if (request.token.starts_with("Bearer "))
    request.token = request.token.substr(7);
  return request;
}

bool is_closed(int client) {
  pollfd waited{client, POLLIN | POLLRDHUP, 0};
  if (poll(&waited, 1, 0) <= 0)
    return false;
  char byte = 0;
  return recv(client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace

ApiServerFace::ApiServerFace() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_.get(), 100);
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

ApiServerFace::~ApiServerFace() {
  thread_.request_stop();
  thread_.join();
}

Config ApiServerFace::config(std::string token) const {
  Config config;
  config.server = cat("http://127.0.0.1:", port_);
  config.identity.token = std::move(token);
  return config;
}

std::unique_ptr<Client> ApiServerFace::client(ClientSettings settings) const {
  return std::make_unique<Client>(std::make_unique<HttpTransport>(config()), std::move(settings));
}

void ApiServerFace::accept_all(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  while (!stop.stop_requested()) {
    pollfd waited{listener_.get(), POLLIN, 0};
    if (poll(&waited, 1, look_interval_ms) <= 0)
      continue;
    const int client = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    ++connections_;
    threads.emplace_back([this, client](const std::stop_token& end) { serve(client, end); });
  }
}

void ApiServerFace::serve(int client, const std::stop_token& stop) {
  const Descriptor owner(client);
  std::string bytes;
  while (!stop.stop_requested()) {
    const size_t end = bytes.find("\r\n\r\n");
    size_t length = 0;
    if (end != bytes.npos) {
      const std::string digits =
          header_in(std::string_view(bytes).substr(0, end), "content-length");
      std::from_chars(digits.data(), digits.data() + digits.size(), length);
    }
    if (end != bytes.npos && bytes.size() >= end + 4 + length) {
      const std::string_view all = bytes;
      const ApiRequest request = request_of(all.substr(0, end), all.substr(end + 4, length));
      bytes.erase(0, end + 4 + length);
      if (!answer(client, request, stop))
        return;
      continue;
    }
    pollfd waited{client, POLLIN, 0};
    if (poll(&waited, 1, look_interval_ms) <= 0)
      continue;
    std::array<char, 65536> buffer{};
    const ssize_t count = read(client, buffer.data(), buffer.size());
    if (count <= 0)
      return;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
}

bool ApiServerFace::answer(int client, const ApiRequest& request, const std::stop_token& stop) {
  while (is_frozen_ && !stop.stop_requested() && !is_closed(client))
    std::this_thread::sleep_for(1ms);
  ApiAnswer answer;
  {
    const std::lock_guard lock(mutex_);
    answer = server_.handle(request, now_from_clock());
    changed_.notify_all();
  }
  if (answer.watch)
    return stream(client, *answer.watch, stop);
  const std::string body = write_json(answer.body, {.show_secrets = true});
  std::string head = cat("HTTP/1.1 ", answer.status, " X\r\nContent-Type: application/json\r\n",
                         "Content-Length: ", body.size(), "\r\n");
  for (const auto& [name, value] : answer.headers)
    head += cat(name, ": ", value, "\r\n");
  return send_all(client, head + "\r\n" + body);
}

bool ApiServerFace::stream(int client, uint64_t watch, const std::stop_token& stop) {
  if (!send_all(client,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n"))
    return false;
  while (!stop.stop_requested()) {
    std::string lines;
    bool goes_on = true;
    {
      std::unique_lock lock(mutex_);
      goes_on = server_.take_lines(watch, lines, now_from_clock());
      if (goes_on && lines.empty())
        changed_.wait_for(lock, std::chrono::milliseconds(look_interval_ms));
    }
    std::array<char, 20> size{};
    const auto digits = std::to_chars(size.data(), size.data() + size.size(), lines.size(), 16);
    const std::string_view length(size.data(), digits.ptr);
    if (!lines.empty() && !is_frozen_ && !send_all(client, cat(length, "\r\n", lines, "\r\n")))
      break;
    if (!goes_on)
      return send_all(client, "0\r\n\r\n");
    if (is_closed(client))
      break;
  }
  const std::lock_guard lock(mutex_);
  server_.leave(watch);
  return false;
}

}  // namespace fettle::kubernetes
