#include "base/http.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/http_connection.h"
#include "base/text.h"
#include "tests/fixtures/test_server.h"

namespace fettle {
namespace {

TEST(Http, AnAnswerHasStatusHeadersAndBody) {
  TestServer server([](int socket, const std::string& head) { say(socket, answer(404, head)); });
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

TEST(Http, OfAUrlOnlyWhatMayBeToldIsShown) {
  EXPECT_EQ(shown_url("https://a.example/x/y.txt"), "https://a.example/x/y.txt");
  EXPECT_EQ(shown_url("https://a.example/x?token=hunter2"), "https://a.example/x");
  EXPECT_EQ(shown_url("https://a.example#x?y"), "https://a.example");
  EXPECT_EQ(shown_url("https://me:hunter2@a.example/x@y"), "https://a.example/x@y");
  EXPECT_EQ(shown_url("me?x"), "me");
}

TEST(Http, AnErrorDoesNotTellThePasswordOfAUrl) {
  HttpClient client;
  const auto got = client.send({.url = "http://me:hunter2@127.0.0.1:1/x?y=z"}, {});
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().message.starts_with("`GET http://127.0.0.1:1/x?y=z`: "))
      << got.error().message;
}

TEST(Http, ConnectionsAreUsedAgain) {
  TestServer server([](int socket, const std::string&) { say(socket, answer(200, "x")); });
  HttpClient client;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.send(server.request("GET", "/"), {})->body, "x");
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http, WhatIsSentOnceIsNotSentAgainOnAnotherConnection) {
  std::atomic<int> asked = 0;
  TestServer server([&](int socket, const std::string& head) {
    if (head.starts_with("GET"))
      return say(socket, answer(200, "x"));
    ++asked;
    shutdown(socket, SHUT_RDWR);
  });
  for (const bool is_sent_once : {false, true}) {
    HttpClient client;
    EXPECT_TRUE(client.send(server.request("GET", "/"), {}));  // the connection is used again
    HttpRequest request = server.request("PATCH", "/");
    request.body = std::string(1'000, 'x');
    request.is_sent_once = is_sent_once;
    asked = 0;
    const auto got = client.send(request, {});
    ASSERT_FALSE(got);
    EXPECT_TRUE(got.error().unknown_outcome);
    EXPECT_EQ(asked, is_sent_once ? 1 : 2) << got.error().message;
  }
}

TEST(Http, ABodyThatIsSentOnceArrives) {
  const std::string body = std::string(200'000, 'a') + "z";
  std::string got;
  TestServer server([&](int socket, const std::string& head) {
    got = head;
    std::array<char, 65536> buffer{};
    while (!got.ends_with("z"))
      got.append(buffer.data(), static_cast<size_t>(read(socket, buffer.data(), buffer.size())));
    say(socket, answer(200, ""));
  });
  HttpClient client;
  HttpRequest request = server.request("PATCH", "/");
  request.body = body;
  request.is_sent_once = true;
  ASSERT_TRUE(client.send(request, {}));
  EXPECT_TRUE(got.starts_with("PATCH / HTTP/1.1\r\n"));
  EXPECT_NE(got.find("\r\nContent-Length: 200001\r\n"), std::string::npos);
  EXPECT_TRUE(got.ends_with("\r\n\r\n" + body));
}

TEST(Http, WhatIsLateIsNotBegun) {
  TestServer server([](int socket, const std::string&) { say(socket, answer(200, "x")); });
  HttpClient client;
  HttpRequest request = server.request("POST", "/");
  request.send_before = instant_from_clock();
  const auto got = client.send(request, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message,
            cat("`POST ", request.unix_socket, " http://x/`: not sent, for it was too late"));
  EXPECT_FALSE(got.error().unknown_outcome);
  EXPECT_EQ(server.connections(), 0);
  request.send_before = instant_from_clock() + Duration(1min);
  EXPECT_TRUE(client.send(request, {}));
}

TEST(Http, ManyRequestsAreInFlightAtOnce) {
  std::atomic<int> waiting = 0;
  TestServer server([&](int socket, const std::string&) {
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
  TestServer server([&](int socket, const std::string& head) {
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
  TestServer server([](int socket, const std::string&) { say(socket, answer(200, "abc")); });
  HttpClient client;
  HttpRequest request = server.request("GET", "/");
  request.sink = [](std::string_view) -> Status { return world_error("full"); };
  EXPECT_EQ(client.send(request, {}).error().message, "full");
}

TEST(Http, ABodyCanBePulled) {
  TestServer server([](int socket, const std::string& head) {
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
  TestServer server([](int, const std::string&) {});
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
  TestServer server([](int, const std::string&) {});
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
  TestServer silent([](int, const std::string&) {});
  TestServer large(
      [](int socket, const std::string&) { say(socket, answer(200, std::string(99, 'x'))); });
  HttpClient client;
  HttpRequest slow = silent.request("GET", "/");
  slow.time_limit = 50ms;
  EXPECT_NE(client.send(slow, {}).error().message.find("timed out"), std::string::npos);
  HttpRequest big = large.request("GET", "/");
  big.body_limit = 10;
  EXPECT_EQ(client.send(big, {}).error().message, "more than 10 bytes");
}

TEST(Http, ASilentServerIsGivenUp) {
  TestServer silent([](int socket, const std::string& head) {
    if (head.starts_with("GET /begun"))
      say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
  });
  HttpClient client;
  for (const char* path : {"/", "/begun"}) {
    HttpRequest request = silent.request("GET", path);
    request.silence_limit = 50ms;
    const auto got = client.send(request, {});
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().message, cat("`GET ", silent.path().string(), " http://x", path,
                                       "`: nothing was received for 50ms"));
    EXPECT_TRUE(got.error().unknown_outcome);
  }
}

TEST(Http, SilenceIsFineWhileTheServerIsStillAtIt) {
  std::atomic<int> asked = 0;
  TestServer server([&](int socket, const std::string& head) {
    if (head.starts_with("GET /never"))
      return;
    while (asked < 3)
      std::this_thread::sleep_for(1ms);
    say(socket, answer(200, "done"));
  });
  HttpClient client;
  HttpRequest request = server.request("GET", "/");
  request.silence_limit = 10ms;
  request.still_at_it = [&](const std::stop_token&) -> Status {
    ++asked;
    return {};
  };
  EXPECT_EQ(client.send(request, {})->body, "done");
  EXPECT_GE(asked, 3);

  asked = 0;
  request.url = "http://x/never";
  request.still_at_it = [&](const std::stop_token&) -> Status {
    return ++asked == 3 ? Status(world_error("it is gone")) : Status();
  };
  const auto got = client.send(request, {});
  EXPECT_EQ(got.error().message, "it is gone");
  EXPECT_TRUE(got.error().unknown_outcome);

  std::stop_source stop;
  request.still_at_it = [&](const std::stop_token& token) -> Status {
    stop.request_stop();
    return token.stop_requested() ? Status(cancelled_error()) : Status();
  };
  EXPECT_TRUE(is_cancelled(client.send(request, stop.get_token()).error()));
}

TEST(Http, AStreamThatIsNeverAnsweredIsGivenUp) {
  TestServer silent([](int, const std::string&) {});
  HttpRequest request = silent.request("POST", "/");
  request.silence_limit = 20ms;
  EXPECT_EQ(HttpConnection::upgrade(request, {}).error().message,
            "the other side sent nothing for 20ms");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(is_cancelled(HttpConnection::upgrade(request, stop.get_token()).error()));
}

TEST(Http, WhoIsNotThereIsNamed) {
  HttpClient client;
  const auto got = client.send({.url = "http://x/y", .unix_socket = "/nowhere/s"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "nothing answers at the socket `/nowhere/s`");
  EXPECT_FALSE(got.error().unknown_outcome);
}

TEST(Http, AConnectionThatBreaksLeavesTheOutcomeUnknown) {
  TestServer server([](int socket, const std::string&) { shutdown(socket, SHUT_RDWR); });
  HttpClient client;
  const auto got = client.send(server.request("POST", "/act"), {});
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().unknown_outcome) << got.error().message;
}

TEST(Http, AnUpgradedConnectionTalksBothWays) {
  TestServer server([](int socket, const std::string& head) {
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
TEST(Http, ParametersAreAddedToTheQuery) {
  std::string url = "http://a/b";
  add_parameter(url, "x", "?1");
  add_parameter(url, "y", "");
  EXPECT_EQ(url, "http://a/b?x=%3F1&y=");
}

}  // namespace
}  // namespace fettle
