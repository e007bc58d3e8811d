#pragma once
/// A server on a unix socket that answers as a test wants it, or does not.

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http.h"
#include "base/text.h"

namespace fettle {

/// Answers each connection on a thread of its own by a function of what was read.
class TestServer {
 public:
  using Answer = std::function<void(int socket, const std::string& head)>;

  explicit TestServer(Answer answer) : answer_(std::move(answer)) {
    path_ = folder_->path() / "s";
    listener_ = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 100), 0);
    thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
  }
  ~TestServer() {
    thread_.request_stop();
    thread_.join();
  }
  HttpRequest request(std::string method, std::string path) const {
    return {.method = std::move(method), .url = "http://x" + path, .unix_socket = path_};
  }
  const Path& path() const { return path_; }
  int connections() const { return connections_; }

 private:
  void accept_all(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    while (!stop.stop_requested()) {
      pollfd waited{listener_.get(), POLLIN, 0};
      if (poll(&waited, 1, 10) <= 0)
        continue;
      const int client = accept(listener_.get(), nullptr, nullptr);
      ++connections_;
      threads.emplace_back([this, client](const std::stop_token& end) { serve(client, end); });
    }
  }
  void serve(int client, const std::stop_token& end) {
    const Descriptor owner(client);
    std::string head;
    while (!end.stop_requested()) {
      pollfd waited{client, POLLIN, 0};
      if (poll(&waited, 1, 10) <= 0)
        continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = read(client, buffer.data(), buffer.size());
      if (count <= 0)
        return;
      head.append(buffer.data(), static_cast<size_t>(count));
      if (head.find("\r\n\r\n") == head.npos)
        continue;
      answer_(client, head);
      head.clear();
    }
  }

  Answer answer_;
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  Path path_;
  Descriptor listener_;
  std::atomic<int> connections_ = 0;
  std::jthread thread_;
};

inline void say(int socket, const std::string& text) {
  EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}
inline std::string answer(int status, const std::string& body) {
  return cat("HTTP/1.1 ", status, " X\r\nContent-Length: ", body.size(),
             "\r\nX-Thing:  a b \r\n\r\n", body);
}

}  // namespace fettle
