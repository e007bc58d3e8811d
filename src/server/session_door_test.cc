/// The page for one session: connections that others hand over, each for one request, and what is
/// asked before each.

#include "server/session_door.h"

#include <gtest/gtest.h>

#include "tests/fixtures/server_fixture.h"

namespace fettle {
namespace {

class SessionDoorTest : public ServerTest {
 protected:
  /// Its server asks what follows until it has ended.
  ~SessionDoorTest() override { stop(); }

  void serve_handed() {
    serve();
    stop();
    WebSettings settings;
    settings.still_counts = [this] { return counts_.load(); };
    auto door = std::make_unique<SessionDoor>(
        [this](const SessionAsk& ask) {
          const std::lock_guard lock(mutex_);
          EXPECT_EQ(ask.from, "10.0.0.7 by 127.0.0.1:1");
          asks_.push_back(cat(ask.target, ask.is_terminal ? " terminal" : "",
                              ask.is_by_command ? " command" : ""));
          return allowed_;
        },
        [this](const std::string& noted) {
          const std::lock_guard lock(mutex_);
          ended_.push_back(noted);
        });
    auto server = WebServer::open_for_handed(served_, settings, files_of_test, std::move(door));
    ASSERT_TRUE(server) << to_string(server.error());
    server_ = *std::move(server);
    thread_ = std::jthread([this](const std::stop_token& end) {
      server_->serve(end);
      has_ended_ = true;
    });
  }
  /// Our end of a connection that was handed over with these bytes.
  Descriptor handed(const std::string& bytes) const {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    server_->adopt(Descriptor(pair[1]), bytes, "10.0.0.7 by 127.0.0.1:1");
    return Descriptor(pair[0]);
  }
  static std::string rest_of(const Descriptor& socket, std::string_view until = {}) {
    std::string all;
    std::array<char, 65'536> buffer{};
    while (until.empty() || all.find(until) == all.npos) {
      const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0)
        break;
      all.append(buffer.data(), static_cast<size_t>(count));
    }
    return all;
  }
  std::string answer(const std::string& target) const {
    return rest_of(handed(cat("GET ", target, " HTTP/1.1\r\nHost: any\r\n\r\n")));
  }
  std::vector<std::string> asks() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asks_, {});
  }

  std::mutex mutex_;
  std::vector<std::string> asks_, ended_;
  SessionAllowed allowed_;
  std::atomic<bool> counts_ = true, has_ended_ = false;
};

TEST_F(SessionDoorTest, AConnectionCarriesOneRequest) {
  serve_handed();
  const Descriptor socket = handed(
      "GET /api/environments HTTP/1.1\r\nHost: any\r\n\r\n"
      "GET /api/events HTTP/1.1\r\nHost: any\r\n\r\n");
  const std::string reply = rest_of(socket);
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos) << reply;
  EXPECT_EQ(reply.find("HTTP/1.1", 8), std::string::npos) << "the next may be of another session";
  EXPECT_EQ(asks(), std::vector<std::string>{"/api/environments"});
  EXPECT_EQ(status_of(answer("/")), "200");
  EXPECT_EQ(status_of(answer("/assets/main.js")), "200");
  EXPECT_TRUE(asks().empty()) << "the page itself tells nothing";
  // The rest of a request may come later.
  const Descriptor slow = handed("GET /api/environ");
  const std::string_view more = "ments HTTP/1.1\r\nHost: any\r\n\r\n";
  EXPECT_EQ(::send(slow.get(), more.data(), more.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(more.size()));
  EXPECT_EQ(status_of(rest_of(slow)), "200");
  EXPECT_EQ(status_of(rest_of(handed("nonsense\r\n\r\n"))), "400");
}

TEST_F(SessionDoorTest, EachRequestIsAskedFor) {
  serve_handed();
  allowed_ = {403, "not for you", {}};
  for (const Route& route : routes()) {
    const std::string target =
        replace_all(replace_all(std::string(route.pattern), "{", ""), "}", "");
    const std::string reply = answer(target);
    EXPECT_EQ(status_of(reply), "403") << target;
    EXPECT_NE(reply.find("not for you"), std::string::npos);
    ASSERT_EQ(asks(),
              std::vector<std::string>{cat(target, route.right == WebRight::act ? " terminal" : "",
                                           route.child != nullptr ? " command" : "")});
  }
  allowed_ = {401, "sign in", {}};
  EXPECT_NE(answer("/api/environments").find("Fettle-Sign-In: ./sign-in\r\n"), std::string::npos);
  EXPECT_EQ(status_of(answer("/api/../x")), "400");
}

TEST_F(SessionDoorTest, TheEndOfATerminalIsNoted) {
  serve_handed();
  allowed_.noted = "line 7";
  EXPECT_EQ(status_of(answer("/api/environments/e/services/s/terminal")).substr(0, 1), "4");
  const auto ended = [&] {
    const std::lock_guard lock(mutex_);
    return ended_;
  };
  for (int i = 0; i < 1'000 && ended().empty(); ++i)
    usleep(5'000);
  EXPECT_EQ(ended(), std::vector<std::string>{"line 7"});
}

TEST_F(SessionDoorTest, StreamsEndWithTheSession) {
  serve_handed();
  const Descriptor stream = handed("GET /api/stream HTTP/1.1\r\nHost: any\r\n\r\n");
  EXPECT_NE(rest_of(stream, "\r\n\r\n").find("text/event-stream"), std::string::npos);
  EXPECT_FALSE(has_ended_);
  counts_ = false;
  rest_of(stream);  // it comes to its end
  thread_.join();
  EXPECT_TRUE(has_ended_);
}

}  // namespace
}  // namespace fettle
