/// Names under which a server is called, and a real nginx in front of one.

#include "remote/called_at.h"

#include "remote/audit_log.h"
#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/http_reply.h"
#include "tests/fixtures/nginx_front.h"

namespace fettle {
namespace {

TEST(CalledAt, AProxysNameIsOneOfOurs) {
  const CalledAt alone{9'790};
  EXPECT_TRUE(alone.is_ours("127.0.0.1:9790"));
  EXPECT_FALSE(alone.is_ours("example.org"));
  const CalledAt behind{9'790, *parse_public_url("https://Example.org:443/fettle")};
  for (const char* const name : {"example.org", "EXAMPLE.ORG:443", "127.0.0.1:9790"})
    EXPECT_TRUE(behind.is_ours(name)) << name;
  for (const char* const name : {"", "example.org:8443", "evil.example", "example.org.evil",
                                 "fettle.example.org", ":443", "example.org:443:443"})
    EXPECT_FALSE(behind.is_ours(name)) << name;
}

TEST(CalledAt, ThePathOfAProxyIsLeftOut) {
  const CalledAt behind{9'790, *parse_public_url("https://example.org:443/fettle")};
  EXPECT_EQ(behind.own_target("/fettle/v1/commands"), "/v1/commands");
  EXPECT_EQ(behind.own_target("/v1/commands"), "/v1/commands");
  EXPECT_EQ(behind.own_target("/fettlesome"), "/fettlesome");
  EXPECT_EQ(CalledAt{9'790}.own_target("/fettle/v1/commands"), "/fettle/v1/commands");
}

TEST(CalledAt, OnlyTrustedProxiesSayForWhomTheyAsk) {
  const std::vector<std::string> trusted{"127.0.0.1", "10.0.0.2"};
  const auto caller = [&](const std::string& peer, std::string_view forwarded) {
    return caller_behind(peer, forwarded, trusted);
  };
  EXPECT_EQ(caller("127.0.0.1:4000", "10.0.0.7"), "10.0.0.7 by 127.0.0.1:4000");
  EXPECT_EQ(caller("127.0.0.1:4000", "10.0.0.7:5000"), "10.0.0.7 by 127.0.0.1:4000");
  EXPECT_EQ(caller("127.0.0.1:4000", "[2001:db8::1]:5000"), "2001:db8::1 by 127.0.0.1:4000");
  EXPECT_EQ(caller("127.0.0.1:4000", "2001:db8::1"), "2001:db8::1 by 127.0.0.1:4000");
  // Whoever asks the first proxy may have written what is in front.
  EXPECT_EQ(caller("127.0.0.1:4000", "1.2.3.4, 10.0.0.7 , 10.0.0.2"), "10.0.0.7 by 127.0.0.1:4000");
  EXPECT_EQ(caller("10.0.0.9:4000", "10.0.0.7"), "10.0.0.9:4000") << "nobody trusts it";
  for (const char* const wrong :
       {"", ",", "unknown", "10.0.0.7, <script>", "[", "[]", "10.0.0.2", "10.0.0.7, 10.0.0.999"})
    EXPECT_EQ(caller("127.0.0.1:4000", wrong), "127.0.0.1:4000") << wrong;
  EXPECT_EQ(caller_behind("127.0.0.1:4000", "10.0.0.7", {}), "127.0.0.1:4000");
}

TEST(CalledAt, WhatIsNoProxyIsRefused) {
  EXPECT_TRUE(check_proxy_address("::1"));
  for (const char* const wrong : {"", "localhost", "127.0.0.1:80", "10.0.0.0/8"})
    EXPECT_EQ(check_proxy_address(wrong).error().blame, Blame::user) << wrong;
  for (const char* const wrong : {"example.org", "http://example.org", "https://example.org/?a"})
    EXPECT_EQ(parse_public_url(wrong).error().blame, Blame::user) << wrong;
}

class BehindNginxTest : public ServerOfCommandsTest {
 protected:
  /// `target`: where nginx asks, behind the server's address. `more`: its other directives.
  void serve_behind(const std::string& target, const std::string& more = "",
                    ServeSettings settings = {}) {
    const int port = server_.address.port = NginxFront::free_port();
    settings.by_proxy = *parse_public_url("https://localhost:443/fettle");
    settings.trusted_proxies = {"127.0.0.1"};
    serve(settings);
    EXPECT_EQ(server_.url, "https://localhost:443/fettle");
    front_.emplace(
        cat("127.0.0.1:", port), identity_,
        cat("location /fettle/ { proxy_pass http://127.0.0.1:", port, target,
            "; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header "
            "Connection $http_connection; proxy_set_header X-Forwarded-For "
            "$proxy_add_x_forwarded_for; ",
            more, " }\n"));
    server_.url = cat("https://localhost:", front_->port(), "/fettle");
    server_.address = *parse_server_url(server_.url);
    server_.authorities = identity_.certificate;
  }

  const SelfSigned identity_{"localhost"};
  std::optional<NginxFront> front_;
};

TEST_F(BehindNginxTest, ACommandIsAsWithoutIt) {
  serve_behind("/");
  const Report hello = told({"hello"});
  EXPECT_EQ(hello.output, "out\n") << hello.errors;
  EXPECT_EQ(hello.errors, "err\n");
  EXPECT_EQ(hello.code, 7);
  EXPECT_EQ(told({"much"}).output.size(), 2'000'000U);
  Client echo(command({"echo"}, {{}, {}, true}), "typed");
  EXPECT_EQ(echo.end().output, "typed");
  Client waiting(command({"wait", flag()}));
  waiting.await("waiting");
  waiting.send(SIGINT);
  EXPECT_EQ(waiting.end().code, 130);
  EXPECT_EQ(runs().back().code, 130);
}

TEST_F(BehindNginxTest, ThePathAndTheNameMayStayInFront) {
  serve_behind("", "proxy_set_header Host localhost;");
  EXPECT_EQ(told({"hello"}).code, 7);
  server_.address.path = "/other";
  const Report other = told({"hello"});
  EXPECT_EQ(other.code, 2) << "nginx does not bring it to the server by our name";
  EXPECT_NE(other.errors.find("refuses: this server answers under its own address only"),
            std::string::npos)
      << other.errors;
}

TEST_F(BehindNginxTest, TheAuditHasTheClientsAddress) {
  // As from a proxy in front of nginx; what nginx says of its own client is an address of a proxy.
  serve_behind("/", "proxy_set_header X-Forwarded-For 203.0.113.7;");
  EXPECT_EQ(told({"acts"}).code, 0);
  const auto all = audit_log(home_.path()).all();
  ASSERT_TRUE(all);
  ASSERT_FALSE(all->empty());
  EXPECT_TRUE(all->back().from.starts_with("203.0.113.7 by 127.0.0.1:")) << all->back().from;
}

TEST_F(BehindNginxTest, ASilentCommandIsNotCutOff) {
  ServeSettings settings;
  settings.sign_pause = 100ms;
  serve_behind("/", "proxy_read_timeout 1s;", settings);
  Client waiting(command({"wait", flag()}));
  waiting.await("waiting");
  Client following(attach(0));
  following.await("waiting");
  usleep(2'500'000);
  raise_flag();
  EXPECT_EQ(waiting.end().code, 5);
  EXPECT_EQ(following.end().code, 5);
}

}  // namespace
}  // namespace fettle
