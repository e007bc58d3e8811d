#include "base/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/http.h"
#include "base/text.h"

namespace fettle {
namespace {

HttpReply told_path(std::string_view path) {
  return path == "/none" ? HttpReply{.status = 404} : HttpReply{.body = cat("asked for ", path)};
}

std::unique_ptr<HttpServer> opened_server(const HttpServerSettings& settings = {}) {
  auto server = HttpServer::open("127.0.0.1:0", told_path, settings);
  EXPECT_TRUE(server) << to_string(server.error());
  return *std::move(server);
}

/// A connection that says only what it is told to say.
Descriptor connected(const HttpServer& server) {
  Descriptor own(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(server.port()));
  EXPECT_EQ(::connect(own.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return own;
}

void say_to(const Descriptor& server, std::string_view bytes) {
  EXPECT_EQ(::send(server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

/// All that comes until the other side closes.
std::string heard_from(const Descriptor& server) {
  std::string all;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 1; count > 0;) {
    count = ::recv(server.get(), buffer.data(), buffer.size(), 0);
    all.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  }
  return all;
}

std::string said(const HttpServer& server, std::string_view request) {
  const Descriptor own = connected(server);
  say_to(own, request);
  return heard_from(own);
}

TEST(HttpServer, AnswersByPath) {
  const auto server = opened_server();
  HttpClient client;
  const std::string base = cat("http://127.0.0.1:", server->port());
  const auto found = client.send({.url = base + "/a/b?c=d"}, {});
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->status, 200);
  EXPECT_EQ(found->body, "asked for /a/b");
  EXPECT_EQ(found->header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(found->header("connection"), "close");
  EXPECT_EQ(client.send({.url = base + "/none"}, {})->status, 404);
}

TEST(HttpServer, KnowsGetAlone) {
  const auto server = opened_server();
  const std::string refused = said(*server, "POST /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 405 Method Not Allowed\r\n")) << refused;
  EXPECT_NE(refused.find("\r\nAllow: GET\r\n"), std::string::npos);
}

TEST(HttpServer, RefusesWhatIsNoRequest) {
  const auto server = opened_server();
  for (const char* request : {"hello\r\n\r\n", "GET a HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
                              "GET / HTTP/2\r\n\r\n", "\r\n\r\n"})
    EXPECT_TRUE(said(*server, request).starts_with("HTTP/1.1 400 ")) << request;
}

TEST(HttpServer, RefusesARequestThatIsTooLarge) {
  const auto server = opened_server({.request_limit = 100});
  const std::string request = cat("GET / HTTP/1.1\r\nX: ", std::string(5000, 'x'));
  EXPECT_TRUE(said(*server, request).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(said(*server, cat(request, "\r\n\r\n")).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(said(*server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

TEST(HttpServer, ARequestMayComeInPieces) {
  const auto server = opened_server();
  const Descriptor own = connected(*server);
  for (const char* piece : {"GE", "T /a HT", "TP/1.1\r\n\r", "\n"}) {
    say_to(own, piece);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(heard_from(own).ends_with("\r\n\r\nasked for /a"));
}

TEST(HttpServer, WhoSaysNothingKeepsNobodyWaitingAndIsGivenUp) {
  const auto server = opened_server({.connection_limit = 300ms});
  const Instant began = instant_from_clock();
  const Descriptor silent = connected(*server);
  EXPECT_TRUE(said(*server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_LT(instant_from_clock() - began, 300ms);
  EXPECT_EQ(heard_from(silent), "");
  EXPECT_GE(instant_from_clock() - began, 300ms);
}

TEST(HttpServer, WhenThereAreTooManyTheOldestGoes) {
  const auto server = opened_server({.connection_limit = 1min, .connections = 2});
  const Descriptor first = connected(*server);
  const Descriptor second = connected(*server);
  const Descriptor third = connected(*server);
  EXPECT_EQ(heard_from(first), "");
  say_to(second, "GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(heard_from(second).ends_with("/2"));
  say_to(third, "GET /3 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(heard_from(third).ends_with("/3"));
}

TEST(HttpServer, ALongAnswerArrivesWhole) {
  const auto server = HttpServer::open("127.0.0.1:0", [](std::string_view) {
    return HttpReply{.body = std::string(5'000'000, 'x')};
  });
  ASSERT_TRUE(server);
  HttpClient client;
  const auto found = client.send({.url = cat("http://127.0.0.1:", (*server)->port(), "/")}, {});
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->body.size(), 5'000'000u);
}

TEST(HttpServer, TwoCannotHaveOneAddress) {
  const auto server = opened_server();
  const auto other = HttpServer::open(cat("127.0.0.1:", server->port()), told_path);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().blame, Blame::world);
  EXPECT_NE(other.error().message.find("cannot listen at `127.0.0.1:"), std::string::npos);
}

TEST(HttpServer, WithoutAHostItListensAtAllAddresses) {
  const auto server = HttpServer::open(":0", told_path);
  ASSERT_TRUE(server) << to_string(server.error());
  EXPECT_TRUE(said(**server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

TEST(HttpServer, ANameIsReachedByIpv4) {
  const auto server = HttpServer::open("localhost:0", told_path);
  ASSERT_TRUE(server) << to_string(server.error());
  EXPECT_TRUE(said(**server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

/// Half of the machine's addresses would be another's.
TEST(HttpServer, APortIsTakenForAllAddressesOrNone) {
  const auto all = HttpServer::open(":0", told_path);
  ASSERT_TRUE(all);
  const auto other = HttpServer::open(cat(":", (*all)->port()), told_path);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("address already in use"), std::string::npos);
}

TEST(ListenAddress, HasHostAndPort) {
  const auto parsed = [](std::string_view text) {
    const auto address = parse_listen_address(text);
    return address ? cat(address->host, "|", address->port) : std::string("none");
  };
  EXPECT_EQ(parsed(":8080"), "|8080");
  EXPECT_EQ(parsed("127.0.0.1:0"), "127.0.0.1|0");
  EXPECT_EQ(parsed("localhost:80"), "localhost|80");
  EXPECT_EQ(parsed("[::1]:80"), "::1|80");
  for (const char* text :
       {"", "8080", "host", "host:", ":x", ":65536", ":-1", "::1:80", "[::1]", "[::1:80", "a b:80"})
    EXPECT_EQ(parsed(text), "none") << text;
}

}  // namespace
}  // namespace fettle
