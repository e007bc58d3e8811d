/// What monitors hear of a server of commands, over real sockets.

#include "remote/health.h"

#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/http_reply.h"

namespace fettle {
namespace {

class HealthTest : public ServerOfCommandsTest {
 protected:
  std::string asked(std::string_view target, std::string_view token = {},
                    std::string_view fields = {}, std::string_view method = "GET") const {
    const std::string bearer = token.empty() ? "" : cat("Authorization: Bearer ", token, "\r\n");
    return sent(cat(method, " ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", server_.address.port,
                    "\r\n", bearer, fields, "\r\n"));
  }
  std::string token(const std::string& name, Right right,
                    std::vector<std::string> environments = {}) const {
    Token made;
    made.grant = {name, right, std::move(environments)};
    made.created = now_from_clock();
    return *token_book(home_.path()).add(made);
  }
  /// Its value in what `/metrics` says; -1: there is none.
  double number(std::string_view name) const {
    const std::string all = asked("/metrics", server_.token);
    const size_t at = all.find(cat("\n", name, " "));
    return at == all.npos ? -1 : std::strtod(all.c_str() + at + name.size() + 2, nullptr);
  }
};

TEST_F(HealthTest, AProbeNeedsNoTokenAndLearnsNothing) {
  serve();
  const std::string reply = sent("GET /healthz HTTP/1.1\r\nHost: anything\r\n\r\n");
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_TRUE(reply.ends_with("\r\n\r\nok\n")) << reply;
  EXPECT_EQ(status_of(asked("/healthz", {}, {}, "POST")), "400");
  EXPECT_EQ(status_of(asked("/healthz/x", server_.token)), "404");
}

TEST_F(HealthTest, AServerThatCannotNoteACommandIsNotWell) {
  serve();
  std::filesystem::remove_all(home_.path() / "serve");
  EXPECT_EQ(status_of(asked("/healthz")), "503");
}

TEST_F(HealthTest, NumbersAreForThoseWhoSeeTheWholeServer) {
  serve();
  EXPECT_EQ(status_of(asked("/metrics")), "401");
  EXPECT_EQ(status_of(asked("/metrics", "somebody-else's-token")), "401");
  EXPECT_EQ(status_of(asked("/metrics", server_.token, "Origin: http://evil.example\r\n")), "403");
  EXPECT_EQ(status_of(asked("/metrics", token("part", Right::act, {"shop-*"}))), "403");
  const std::string reply = asked("/metrics", token("monitor", Right::read));
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_NE(reply.find("\r\nContent-Type: text/plain; version=0.0.4"), std::string::npos) << reply;
  EXPECT_NE(reply.find("\nfettle_build_info{version=\"1.0\"} 1\n"), std::string::npos) << reply;
}

TEST_F(HealthTest, NumbersTellOfRunsAndConnections) {
  serve({.connections = 7});
  EXPECT_TRUE(comes([&] { return number("fettle_serve_connections") == 1; }));
  EXPECT_EQ(number("fettle_serve_connections_limit"), 7);
  EXPECT_EQ(number("fettle_serve_runs_begun_total"), 0);
  EXPECT_EQ(number("fettle_serve_runs{status=\"failed\"}"), 0);
  EXPECT_EQ(told({"acts"}).code, 0);
  EXPECT_EQ(told({"hello"}).code, 7);
  Client waiting(command({"wait", flag()}));
  waiting.await("waiting");
  EXPECT_EQ(number("fettle_serve_runs{status=\"succeeded\"}"), 1);
  EXPECT_EQ(number("fettle_serve_runs{status=\"failed\"}"), 1);
  EXPECT_EQ(number("fettle_serve_runs{status=\"running\"}"), 1);
  EXPECT_EQ(number("fettle_serve_runs_begun_total"), 3);
  // The processes of earlier questions end behind their answers.
  EXPECT_TRUE(comes([&] { return number("fettle_serve_connections") == 2; }));
  raise_flag();
  EXPECT_EQ(waiting.end().code, 5);
}

}  // namespace
}  // namespace fettle
