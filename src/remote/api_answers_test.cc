/// Documents over HTTP, as programs ask for them, over real sockets.

#include "remote/api_answers.h"

#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/http_reply.h"

namespace fettle {
namespace {

/// What the program's own `api` command does, with documents that say what was asked.
int answer_path(const CommandRequest& request, const std::string& root) {
  const std::string& path = request.words[1];
  EXPECT_EQ(request.words, (std::vector<std::string>{"api", path, "-o", "json"}));
  if (path == "/api/dies")
    raise(SIGKILL);
  if (path == "/api/large") {
    for (int i = 0; i < 3'000; ++i)
      say(std::string(1'000, 'x'));
    return 0;
  }
  const auto fail = [](std::string_view blame, std::string_view message) {
    say(cat(R"({"error":{"blame":")", blame, R"(","message":")", message, R"("}})"));
    return blame == "user" ? 2 : 1;
  };
  if (path == "/api/absent")
    return fail("user", "there is no environment `absent`");
  if (path == "/api/wrong")
    return fail("user", "the parameter `x` is unknown here");
  if (path == "/api/down")
    return fail("world", "the engine does not answer");
  say(cat(R"({"path":")", path, R"(","at":")", root, R"(/x"})"));
  return 0;
}

class ApiAnswersTest : public ServerOfCommandsTest {
 protected:
  void serve_paths() { serve({}, answer_path); }
  std::string asked(std::string_view target, std::string_view fields = {},
                    std::string_view method = "GET") const {
    return sent(cat(method, " ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", server_.address.port,
                    "\r\nAuthorization: Bearer ", token_.empty() ? server_.token : token_, "\r\n",
                    fields, "\r\n"));
  }

  std::string token_;
};

TEST_F(ApiAnswersTest, ARequestIsACommandAndItsOutputIsSent) {
  serve_paths();
  const std::string reply = asked("/api/environments?x=1");
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_NE(reply.find("\r\nContent-Type: application/json; charset=utf-8\r\n"), std::string::npos);
  EXPECT_EQ(document_in(reply).text_at("path"), "/api/environments?x=1");
  EXPECT_EQ(document_in(reply).text_at("at"), "/x") << "no path of the server is told";
  const std::string large = asked("/api/large");
  EXPECT_EQ(large.size() - large.find("\r\n\r\n") - 4, 3'000'000U);
  EXPECT_TRUE(runs().empty()) << "to look is no run";
}

TEST_F(ApiAnswersTest, AnErrorHasAStatusAndTheEnvelope) {
  serve_paths();
  const std::string absent = asked("/api/absent");
  EXPECT_EQ(status_of(absent), "404");
  EXPECT_EQ(document_in(absent).at("error").text_at("message"), "there is no environment `absent`");
  EXPECT_EQ(status_of(asked("/api/wrong")), "400");
  EXPECT_EQ(status_of(asked("/api/down")), "502");
  EXPECT_EQ(status_of(asked("/api/dies")), "502");
  EXPECT_EQ(status_of(asked("/api/x", "", "POST")), "405");
  EXPECT_EQ(status_of(asked("/api/x", "Content-Length: 2\r\n")), "405");
}

TEST_F(ApiAnswersTest, OnlyWhoMaySeeIsAnswered) {
  serve_paths();
  const std::string own = asked("/api/x");
  EXPECT_EQ(status_of(own), "200");
  token_ = "forged";
  EXPECT_EQ(status_of(asked("/api/x")), "401");
  Token made;
  made.grant = {"reader", Right::read};
  made.created = now_from_clock();
  token_ = *token_book(home_.path()).add(made);
  // In the program, `api` needs the right to read; here, every word that says nothing needs more.
  EXPECT_EQ(status_of(asked("/api/x")), "403");
  token_.clear();
  EXPECT_EQ(status_of(asked("/api/x", "Origin: http://evil.example\r\n")), "403");
}

}  // namespace
}  // namespace fettle
