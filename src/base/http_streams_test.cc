/// HTTP/2 with a real server: many exchanges on one connection, trailers, TLS from texts, answers
/// without an end.

#include <atomic>
#include <condition_variable>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/http_tls.h"
#include "base/text.h"
#include "tests/fixtures/nginx_front.h"
#include "tests/fixtures/test_server.h"

namespace fettle {
namespace {

/// Says something at once and then nothing, until whoever asked leaves.
void begin_stream(int socket, std::string_view text) {
  say(socket, cat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", text.size(), "\r\n",
                  text, "\r\n"));
}

/// Counts what ends on other threads.
class Tally {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    told_.insert(what);
    grown_.notify_all();
  }
  std::multiset<std::string> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    grown_.wait(lock, [&] { return told_.size() >= count; });
    return told_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable grown_;
  std::multiset<std::string> told_;
};

TEST(HttpStreams, ManyExchangesShareOneConnection) {
  std::atomic<int> waiting = 0;
  TestServer server([&](int socket, const std::string&) {
    ++waiting;
    while (waiting < 50)  // none is answered before all have arrived
      std::this_thread::sleep_for(1ms);
    say(socket, answer(200, "x"));
  });
  const SelfSigned identity("front");
  const NginxFront front(server.path(), identity);
  HttpClient client;
  Tally connections;
  for (int i = 0; i < 50; ++i) {
    HttpRequest request = front.secured("GET", cat("/", i));
    request.tls.authorities_text = identity.certificate;
    client.start(request, {}, [&](const Result<HttpResponse>& got) {
      connections.add(got ? cat(got->status, " ", got->header("x-connection")) : "failed");
    });
  }
  const std::multiset<std::string> told = connections.wait_for(50);
  EXPECT_EQ(told.count(*told.begin()), 50u) << *told.begin();
  EXPECT_TRUE(told.begin()->starts_with("200 "));
}

TEST(HttpStreams, WithoutTlsManyAreAskedAtOnceAndAgain) {
  TestServer server([](int socket, const std::string& head) {
    begin_stream(socket, "x");
    if (!head.starts_with("GET /endless"))
      say(socket, "0\r\n\r\n");
  });
  const NginxFront front(server.path(), SelfSigned("front"));
  HttpClient client;
  std::stop_source stop;
  HttpRequest endless = front.request("GET", "/endless");
  Tally begun;
  endless.sink = [&](std::string_view) -> Status {
    begun.add("begun");
    return {};
  };
  client.start(endless, stop.get_token(), [](const Result<HttpResponse>&) {});
  begun.wait_for(1);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.send(front.request("GET", "/"), {})->body, "x");
  Tally ended;
  for (int i = 0; i < 20; ++i)
    client.start(front.request("GET", "/"), {}, [&](const Result<HttpResponse>& got) {
      ended.add(got && got->trailers.size() == 1 ? got->body : "otherwise");
    });
  EXPECT_EQ(ended.wait_for(20).count("x"), 20u);
  stop.request_stop();
}

TEST(HttpStreams, TrailersAreNoHeaders) {
  TestServer server([](int socket, const std::string& head) {
    begin_stream(socket, head.substr(0, head.find(' ')));
    say(socket, "0\r\n\r\n");
  });
  const NginxFront front(server.path(), SelfSigned("front"));
  HttpClient client;
  HttpRequest request = front.request("POST", "/");
  request.body = "{}";
  const auto got = client.send(request, {});
  ASSERT_TRUE(got) << to_string(got.error());
  EXPECT_EQ(got->body, "POST");
  EXPECT_EQ(got->header("x-end"), "");
  ASSERT_EQ(got->trailers.size(), 1u);
  EXPECT_EQ(lower_case(got->trailers[0].name), "x-end");
  EXPECT_EQ(got->trailers[0].value, "HTTP/2.0");
}

TEST(HttpStreams, TrailersOfChunksAreNoHeaders) {
  TestServer server([](int socket, const std::string&) {
    say(socket,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n"
        "1\r\nb\r\n0\r\nX-B: 2\r\n\r\n");
  });
  HttpClient client;
  const auto got = client.send(server.request("GET", "/"), {});
  ASSERT_TRUE(got) << to_string(got.error());
  EXPECT_EQ(got->header("x-a"), "1");
  EXPECT_EQ(got->header("x-b"), "");
  ASSERT_EQ(got->trailers.size(), 1u);
  EXPECT_EQ(got->trailers[0].value, "2");
}

TEST(HttpStreams, TheServerProvesTheNameThatItWasGiven) {
  TestServer server([](int socket, const std::string&) { say(socket, answer(200, "x")); });
  const SelfSigned identity("api.example");
  const NginxFront front(server.path(), identity);
  HttpClient client;
  HttpRequest request = front.secured("GET", "/path?q=1");
  request.tls.authorities_text = identity.certificate;
  const auto other = client.send(request, {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("front"), std::string::npos) << other.error().message;
  request.tls.server_name = "api.example";
  const auto got = client.send(request, {});
  ASSERT_TRUE(got) << to_string(got.error());
  EXPECT_EQ(got->header("x-host"), "front") << "the server is still asked as what it is";
  request.tls.authorities_text = SelfSigned("api.example").certificate;
  EXPECT_FALSE(client.send(request, {})) << "somebody else's authority";
  request.tls.authorities_text = "no certificate";
  EXPECT_FALSE(client.send(request, {}));
}

TEST(HttpStreams, AClientMayHaveAKeyInMemory) {
  TestServer server([](int socket, const std::string&) { say(socket, answer(200, "x")); });
  const SelfSigned identity("front"), ours("me");
  const NginxFront front(server.path(), identity);
  HttpClient client;
  HttpRequest request = front.secured("GET", "/");
  request.tls.authorities_text = identity.certificate;
  request.tls.certificate_text = ours.certificate;
  request.tls.key_text = ours.key;
  EXPECT_TRUE(client.send(request, {}));
  request.tls.key_text = SelfSigned("me").key;
  request.tls.certificate_text = SelfSigned("me").certificate;
  EXPECT_FALSE(client.send(request, {})) << "the key is another one's";
}

TEST(HttpStreams, AnAnswerWithoutAnEndGoesOnUntilItIsStopped) {
  TestServer server([](int socket, const std::string&) { begin_stream(socket, "begun"); });
  const SelfSigned identity("front");
  const NginxFront front(server.path(), identity);
  HttpClient client;
  std::stop_source stop;
  Tally begun, ended;
  for (int i = 0; i < 20; ++i) {
    HttpRequest request = front.secured("GET", cat("/", i));
    request.tls.authorities_text = identity.certificate;
    request.sink = [&](std::string_view bytes) -> Status {
      begun.add(std::string(bytes));
      return {};
    };
    client.start(request, stop.get_token(), [&](const Result<HttpResponse>& got) {
      ended.add(!got && is_cancelled(got.error()) ? "cancelled" : "otherwise");
    });
  }
  EXPECT_EQ(begun.wait_for(20).count("begun"), 20u);
  stop.request_stop();
  EXPECT_EQ(ended.wait_for(20).count("cancelled"), 20u);
}

TEST(HttpStreams, AStreamOnWhichNothingComesIsGivenUpAndOthersGoOn) {
  TestServer server([](int socket, const std::string& head) {
    begin_stream(socket, head.starts_with("GET /busy") ? "busy" : "idle");
    while (head.starts_with("GET /busy") && send(socket, "1\r\nx\r\n", 6, MSG_NOSIGNAL) == 6)
      std::this_thread::sleep_for(2ms);
  });
  const SelfSigned identity("front");
  const NginxFront front(server.path(), identity);
  HttpClient client;
  std::stop_source stop;
  Tally ended;
  std::atomic<int> busy_bytes = 0;
  for (const char* path : {"/busy", "/idle"}) {
    HttpRequest request = front.secured("GET", path);
    request.idle_limit = 500ms;
    request.tls.authorities_text = identity.certificate;
    request.sink = [&busy_bytes, path](std::string_view bytes) -> Status {
      busy_bytes += path == std::string_view("/busy") ? static_cast<int>(bytes.size()) : 0;
      return {};
    };
    client.start(request, stop.get_token(), [&, path](const Result<HttpResponse>& got) {
      EXPECT_TRUE(got || is_cancelled(got.error()) || got.error().unknown_outcome);
      ended.add(cat(path, " ", got ? "ended" : got.error().message));
    });
  }
  const std::string first = *ended.wait_for(1).begin();
  EXPECT_TRUE(first.ends_with("/idle`: nothing was received for 500ms")) << first;
  const int before = busy_bytes;
  while (busy_bytes == before)
    std::this_thread::sleep_for(1ms);
  stop.request_stop();
  EXPECT_EQ(ended.wait_for(2).size(), 2u);
}

TEST(HttpStreams, WhoWaitsForAConnectionToShareWaitsNoLongerThanTheirLimit) {
  TestServer silent([](int, const std::string&) {});  // accepts, and never says who it is
  HttpClient client;
  std::stop_source stop;
  Tally ended;
  HttpRequest request{.url = "https://front/", .unix_socket = silent.path(), .is_http2 = true};
  request.connect_limit = 1h;
  for (const Duration limit : {Duration(1h), Duration(20ms)}) {
    request.time_limit = limit;
    client.start(request, stop.get_token(), [&, limit](const Result<HttpResponse>& got) {
      ended.add(cat(to_string(limit), " ", got ? "answered" : got.error().message));
    });
  }
  const std::string first = *ended.wait_for(1).begin();
  EXPECT_TRUE(first.starts_with("20ms ") && first.find("timed out") != first.npos) << first;
  stop.request_stop();
  EXPECT_EQ(ended.wait_for(2).size(), 2u);
}

TEST(HttpStreams, AUrlKeepsItsPathUnderAnotherName) {
  const auto told = [](std::string_view url) {
    const OtherName other = under_name(url, "n");
    return cat(other.url, " ", other.host, " ", other.connect_to);
  };
  EXPECT_EQ(told("https://10.0.0.1:6443/a?b"), "https://n:6443/a?b 10.0.0.1:6443 ::10.0.0.1:6443");
  EXPECT_EQ(told("https://x"), "https://n:443 x ::x:443");
  EXPECT_EQ(told("https://[::1]/a:b"), "https://n:443/a:b [::1] ::[::1]:443");
  EXPECT_EQ(told("http://[::1]:80/"), "http://n:80/ [::1]:80 ::[::1]:80");
}

}  // namespace
}  // namespace fettle
