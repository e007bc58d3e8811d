#include "base/http.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http_connection.h"
#include "base/text.h"

namespace fettle {
namespace {

/// Answers each connection on a thread of its own by a function of what was read.
class Server {
 public:
  using Answer = std::function<void(int socket, const std::string& head)>;

  explicit Server(Answer answer) : answer_(std::move(answer)) {
    path_ = folder_->path() / "s";
    listener_ = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 100), 0);
    thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
  }
  ~Server() {
    thread_.request_stop();
    thread_.join();
  }
  HttpRequest request(std::string method, std::string path) const {
    return {.method = std::move(method), .url = "http://x" + path, .unix_socket = path_};
  }
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

void say(int socket, const std::string& text) {
  EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}
std::string answer(int status, const std::string& body) {
  return cat("HTTP/1.1 ", status, " X\r\nContent-Length: ", body.size(),
             "\r\nX-Thing:  a b \r\n\r\n", body);
}

TEST(Http, AnAnswerHasStatusHeadersAndBody) {
  Server server([](int socket, const std::string& head) { say(socket, answer(404, head)); });
  HttpClient client;
  HttpRequest request = server.request("POST", "/a%20b?c=d");
  request.headers = {{"Content-Type", "application/json"}};
  request.body = "{}";
  const auto got = client.send(request, {});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(got->header("x-thing"), "a b");
  EXPECT_TRUE(got->body.starts_with("POST /a%20b?c=d HTTP/1.1\r\n"));
  EXPECT_NE(got->body.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(got->body.find("\r\nContent-Length: 2\r\n"), std::string::npos);
  EXPECT_EQ(got->body.find("Expect"), std::string::npos);
}

TEST(Http, ConnectionsAreUsedAgain) {
  Server server([](int socket, const std::string&) { say(socket, answer(200, "x")); });
  HttpClient client;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.send(server.request("GET", "/"), {})->body, "x");
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http, ManyRequestsAreInFlightAtOnce) {
  std::atomic<int> waiting = 0;
  Server server([&](int socket, const std::string&) {
    ++waiting;
    while (waiting < 30)  // none is answered before all have arrived
      std::this_thread::sleep_for(1ms);
    say(socket, answer(200, "x"));
  });
  HttpClient client;
  std::vector<std::jthread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 30; ++i)
    threads.emplace_back([&] { answered += client.send(server.request("GET", "/"), {})->status; });
  threads.clear();
  EXPECT_EQ(answered, 30 * 200);
}

TEST(Http, ASinkGetsTheBodyOfASuccessAsItArrives) {
  std::atomic<bool> first_seen = false;
  Server server([&](int socket, const std::string& head) {
    if (head.starts_with("GET /bad"))
      return say(socket, answer(500, "why"));
    say(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    while (!first_seen)
      std::this_thread::sleep_for(1ms);
    say(socket, "1\r\nc\r\n0\r\n\r\n");
  });
  HttpClient client;
  std::string taken;
  HttpRequest request = server.request("GET", "/");
  request.sink = [&](std::string_view bytes) -> Status {
    taken += bytes;
    first_seen = true;
    return {};
  };
  EXPECT_EQ(client.send(request, {})->body, "");
  EXPECT_EQ(taken, "abc");
  request.url = "http://x/bad";
  EXPECT_EQ(client.send(request, {})->body, "why");
  EXPECT_EQ(taken, "abc");
}

TEST(Http, ASinkThatFailsEndsTheTransfer) {
  Server server([](int socket, const std::string&) { say(socket, answer(200, "abc")); });
  HttpClient client;
  HttpRequest request = server.request("GET", "/");
  request.sink = [](std::string_view) -> Status { return world_error("full"); };
  EXPECT_EQ(client.send(request, {}).error().message, "full");
}

TEST(Http, ABodyCanBePulled) {
  Server server([](int socket, const std::string& head) {
    std::string body = head.substr(head.find("\r\n\r\n") + 4);
    std::array<char, 65536> buffer{};
    while (!body.ends_with("0\r\n\r\n")) {
      const ssize_t count = read(socket, buffer.data(), buffer.size());
      if (count <= 0)
        return;  // the client gave up
      body.append(buffer.data(), static_cast<size_t>(count));
    }
    say(socket, answer(200, std::to_string(std::ranges::count(body, 'z'))));
  });
  HttpClient client;
  HttpRequest request = server.request("PUT", "/");
  request.source = source_of(std::string(300'000, 'z'));
  EXPECT_EQ(client.send(request, {})->body, "300000");
  request.source = [](std::span<char>) -> Result<size_t> { return world_error("no more"); };
  EXPECT_EQ(client.send(request, {}).error().message, "no more");
}

TEST(Http, TheStopTokenEndsARequestAtOnce) {
  Server server([](int, const std::string&) {});
  HttpClient client;
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto got = client.send(server.request("GET", "/"), stop.get_token());
  EXPECT_TRUE(is_cancelled(got.error()));
  EXPECT_TRUE(is_cancelled(client.send(server.request("GET", "/"), stop.get_token()).error()));
}

TEST(Http, TheEndOfTheClientCancelsWhatIsInFlight) {
  Server server([](int, const std::string&) {});
  std::atomic<bool> cancelled = false;
  {
    HttpClient client;
    client.start(server.request("GET", "/"), {}, [&](const Result<HttpResponse>& outcome) {
      cancelled = !outcome && is_cancelled(outcome.error());
    });
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(cancelled);
}

TEST(Http, LimitsOfTimeAndSizeAreErrors) {
  Server silent([](int, const std::string&) {});
  Server large(
      [](int socket, const std::string&) { say(socket, answer(200, std::string(99, 'x'))); });
  HttpClient client;
  HttpRequest slow = silent.request("GET", "/");
  slow.time_limit = 50ms;
  EXPECT_NE(client.send(slow, {}).error().message.find("timed out"), std::string::npos);
  HttpRequest big = large.request("GET", "/");
  big.body_limit = 10;
  EXPECT_EQ(client.send(big, {}).error().message, "more than 10 bytes");
}

TEST(Http, WhoIsNotThereIsNamed) {
  HttpClient client;
  const auto got = client.send({.url = "http://x/y", .unix_socket = "/nowhere/s"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "nobody answers at the socket `/nowhere/s`");
  EXPECT_FALSE(got.error().unknown_outcome);
}

TEST(Http, AConnectionThatBreaksLeavesTheOutcomeUnknown) {
  Server server([](int socket, const std::string&) { shutdown(socket, SHUT_RDWR); });
  HttpClient client;
  const auto got = client.send(server.request("POST", "/act"), {});
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().unknown_outcome) << got.error().message;
}

TEST(Http, AnUpgradedConnectionTalksBothWays) {
  Server server([](int socket, const std::string& head) {
    if (head.starts_with("POST /no"))
      return say(socket, answer(409, "busy"));
    if (head.starts_with("POST"))
      return say(socket, "HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nfirst");
  });
  const auto refused = HttpConnection::upgrade(server.request("POST", "/no"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "a stream was refused: HTTP/1.1 409 X: busy");
  auto open = HttpConnection::upgrade(server.request("POST", "/yes"), {});
  ASSERT_TRUE(open);
  std::array<char, 100> buffer{};
  EXPECT_EQ(*open->read(buffer, {}), 5u);
  EXPECT_EQ(std::string_view(buffer.data(), 5), "first");
  EXPECT_TRUE(open->write("hello", {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(is_cancelled(open->read(buffer, stop.get_token()).error()));
}

TEST(Http, TextIsEncodedForUrls) { EXPECT_EQ(percent_encode("a/b c~é"), "a%2Fb%20c~%C3%A9"); }

}  // namespace
}  // namespace fettle
