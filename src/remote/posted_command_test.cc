/// Commands over HTTP, as programs post them, over real sockets.

#include "remote/posted_command.h"

#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/http_reply.h"

namespace fettle {
namespace {

class PostedCommandTest : public ServerOfCommandsTest {
 protected:
  std::string bytes_of(std::string_view target, std::string_view body,
                       std::string_view fields = "Content-Type: application/json\r\n") const {
    return cat("POST ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", server_.address.port,
               "\r\nAuthorization: Bearer ", token_.empty() ? server_.token : token_, "\r\n",
               fields, "Content-Length: ", body.size(), "\r\n\r\n", body);
  }
  std::string posted(std::string_view body) const { return sent(bytes_of("/api/commands", body)); }
  std::string cancelled(std::string_view number) const {
    return sent(bytes_of(cat("/api/runs/", number, "/cancel"), "", ""));
  }
  std::string told_error(const std::string& reply) const {
    return std::string(document_in(reply).at("error").text_at("message"));
  }
  void use_token(Right right) {
    Token made;
    made.grant = {"ci", right};
    made.created = now_from_clock();
    token_ = *token_book(home_.path()).add(made);
  }
  std::string waiting(std::string_view wait) const {
    return cat(R"({"words": ["waits", ")", flag(), R"("], "wait": )", wait, "}");
  }
  int64_t ended_code(int64_t run) const {
    EXPECT_TRUE(comes([&] { return find_run(runs(), run)->code.has_value(); }));
    return find_run(runs(), run)->code.value_or(-1);
  }

  std::string token_;
};

TEST_F(PostedCommandTest, ACommandIsARunAndItsEndTheAnswer) {
  serve();
  const std::string reply = posted(R"({"words": ["hello"]})");
  EXPECT_EQ(status_of(reply), "200");
  const Value answer = document_in(reply);
  EXPECT_EQ(answer.text_at("output"), "out\n");
  EXPECT_EQ(answer.text_at("errors"), "err\n");
  EXPECT_EQ(answer.integer_at("code"), 7);
  EXPECT_EQ(answer.text_at("status"), "ended");
  EXPECT_FALSE(answer.bool_at("is_cut"));
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(answer.integer_at("run"), runs()[0].number);
  EXPECT_EQ(runs()[0].code, 7);
}

TEST_F(PostedCommandTest, FilesVariablesAndInputTravel) {
  serve();
  const std::string reply = posted(
      R"({"words": ["where"], "folder": "/shop/main", "files": {"given": "text", "/shop/other": "x"},
          "variables": {"TZ": "Asia/Tokyo"}})");
  EXPECT_EQ(document_in(reply).text_at("output"), "text /shop/main Asia/Tokyo") << reply;
  const std::string large(600'000, 'x');
  const std::string echoed = posted(cat(R"({"words": ["echo"], "input": ")", large, R"("})"));
  EXPECT_EQ(document_in(echoed).text_at("output"), large);
  EXPECT_EQ(document_in(posted(R"({"words": ["echo"], "input": "{\"a\": [1]}"})"))
                .at("document")
                .at("a")
                .items()
                .size(),
            1U)
      << "JSON is there as JSON, too";
}

TEST_F(PostedCommandTest, WhatTakesLongerThanItsCallerWaitsGoesOn) {
  serve();
  const std::string at_once = posted(waiting("0"));
  EXPECT_EQ(status_of(at_once), "202") << "it has begun, and has a number";
  EXPECT_EQ(document_in(at_once).integer_at("run"), 1);
  const std::string later = posted(waiting("1"));
  EXPECT_EQ(status_of(later), "202");
  const Value answer = document_in(later);
  EXPECT_EQ(answer.text_at("status"), "running");
  EXPECT_TRUE(answer.at("code").is_null());
  EXPECT_EQ(answer.text_at("output"), "waiting\n");
  raise_flag();
  EXPECT_EQ(ended_code(answer.integer_at("run")), 5);
}

TEST_F(PostedCommandTest, ACallerWhoGoesLeavesTheRun) {
  serve();
  {
    const Descriptor socket = connected();
    const std::string request = bytes_of("/api/commands", waiting("60"));
    ASSERT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    ASSERT_TRUE(comes([&] { return !runs().empty(); }));
  }
  raise_flag();
  EXPECT_EQ(ended_code(runs()[0].number), 5);
}

TEST_F(PostedCommandTest, WhatOnlyTellsEndsWithItsCaller) {
  serve();
  const std::string reply =
      posted(cat(R"({"words": ["waits", ")", flag(), R"(", "reader"], "wait": 1})"));
  EXPECT_EQ(status_of(reply), "504") << reply;
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
}

TEST_F(PostedCommandTest, ARunIsCancelled) {
  serve();
  const int64_t run = document_in(posted(waiting("1"))).integer_at("run");
  const std::string asked = cancelled(std::to_string(run));
  EXPECT_EQ(status_of(asked), "200");
  EXPECT_EQ(document_in(asked).integer_at("run"), run);
  EXPECT_EQ(ended_code(run), 130);
  EXPECT_EQ(status_of(cancelled(std::to_string(run))), "409");
  EXPECT_EQ(status_of(cancelled("77")), "404");
  for (const char* const none : {"x", "-1", "", "99999999999999999999", "1/2"})
    EXPECT_EQ(status_of(cancelled(none)), "405") << none;
}

TEST_F(PostedCommandTest, SomebodyElsesRunTakesTheRight) {
  serve();
  const int64_t run = document_in(posted(waiting("1"))).integer_at("run");
  use_token(Right::act);
  EXPECT_EQ(status_of(cancelled(std::to_string(run))), "403");
  raise_flag();
  EXPECT_EQ(ended_code(run), 5);
}

TEST_F(PostedCommandTest, OnlyWhoMayIsAnswered) {
  serve();
  use_token(Right::read);
  EXPECT_EQ(status_of(posted(R"({"words": ["sees", "everywhere"]})")), "200");
  const std::string refused = posted(R"({"words": ["acts"]})");
  EXPECT_EQ(status_of(refused), "403");
  EXPECT_NE(told_error(refused).find("needs the right `act`"), std::string::npos);
  EXPECT_EQ(status_of(posted(R"({"words": ["state"]})")), "400") << "such are not run for others";
  token_ = "forged";
  EXPECT_EQ(status_of(posted(R"({"words": ["sees"]})")), "401");
  token_.clear();
  EXPECT_EQ(status_of(sent(bytes_of("/api/commands", R"({"words": ["acts"]})",
                                    "Content-Type: application/json\r\nOrigin: http://x\r\n"))),
            "403")
      << "a page of a browser";
  EXPECT_TRUE(
      std::ranges::none_of(runs(), [](const RunView& run) { return run.command == "acts"; }));
  const std::vector<AuditEntry> noted = *audit_log(home_.path()).all();
  EXPECT_TRUE(std::ranges::any_of(noted, [](const AuditEntry& entry) {
    return entry.command == "acts" && !entry.refused.empty();
  }));
}

TEST_F(PostedCommandTest, WhatIsWrongIsSaidAndNothingBegins) {
  serve();
  const std::map<std::string, std::string> wrong{
      {"", "400"},
      {"[]", "400"},
      {"{", "400"},
      {R"({"words": []})", "400"},
      {R"({"words": ["hello", 1]})", "400"},
      {R"({"words": "hello"})", "400"},
      {R"({"words": ["hello"], "wiat": 1})", "400"},
      {R"({"words": ["hello"], "wait": -1})", "400"},
      {R"({"words": ["hello"], "wait": 601})", "400"},
      {R"({"words": ["hello"], "wait": 1.5})", "400"},
      {R"({"words": ["hello"], "folder": "shop"})", "400"},
      {R"({"words": ["hello"], "folder": "/a/../b"})", "400"},
      {R"({"words": ["hello"], "files": {"../x": ""}})", "400"},
      {R"({"words": ["hello"], "files": {"": ""}})", "400"},
      {R"({"words": ["hello"], "files": {"a": "", "a/b": ""}})", "400"},
      {R"({"words": ["hello"], "files": {"a": 1}})", "400"},
      {R"({"words": ["hello"], "variables": []})", "400"},
      {R"({"words": ["hello"], "input": 1})", "400"},
      {std::string(100'000, '['), "400"},
  };
  for (const auto& [body, status] : wrong) {
    const std::string reply = posted(body);
    EXPECT_EQ(status_of(reply), status) << body.substr(0, 100) << reply;
    EXPECT_FALSE(told_error(reply).empty()) << body.substr(0, 100);
  }
  EXPECT_NE(told_error(posted(R"({"words": ["hello"], "wiat": 1})")).find("did you mean `wait`?"),
            std::string::npos);
  const std::string hello = R"({"words": ["hello"]})";
  EXPECT_EQ(status_of(sent(bytes_of("/api/commands", hello, ""))), "415");
  EXPECT_EQ(status_of(sent(bytes_of("/api/commands", hello, "Content-Type: text/plain\r\n"))),
            "415")
      << "what a form of a page could send";
  EXPECT_EQ(status_of(sent(cat("POST /api/commands HTTP/1.1\r\nHost: 127.0.0.1:",
                               server_.address.port, "\r\nAuthorization: Bearer ", server_.token,
                               "\r\nContent-Length: 999999999\r\n\r\n"))),
            "413");
  EXPECT_TRUE(runs().empty());
}

TEST_F(PostedCommandTest, MuchOutputIsCutAndTheRunHasAll) {
  serve();
  const Value answer = document_in(posted(R"({"words": ["flood"]})"));
  EXPECT_EQ(answer.text_at("output").size(), size_t{8} << 20);
  EXPECT_TRUE(answer.bool_at("is_cut"));
  EXPECT_EQ(Client(attach(answer.integer_at("run"))).end().output.size(), 12'000'000U);
}

TEST_F(PostedCommandTest, ACommandThatDiesIsTold) {
  serve();
  const Value answer = document_in(posted(R"({"words": ["dies"]})"));
  EXPECT_EQ(answer.integer_at("code"), 137);
  EXPECT_NE(answer.text_at("errors").find("signal 9"), std::string_view::npos);
}

TEST_F(PostedCommandTest, AServerThatIsKilledIsTold) {
  serve();
  const Descriptor socket = connected();
  const std::string request = bytes_of("/api/commands", waiting("60"));
  ASSERT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  // The process between has heard of the run before the run has printed anything.
  ASSERT_TRUE(comes([&] {
    const auto read = read_pieces(home_.path() / "serve/runs", 1, 0);
    return read && !read->pieces.empty();
  }));
  // The connection's process alone: the one between tells what it knows.
  const std::string child =
      read_file(cat("/proc/", process_, "/task/", process_, "/children")).value_or("");
  for (const std::string_view one : split(child, ' '))
    if (!one.empty())
      kill(std::stoi(std::string(one)), SIGKILL);
  const std::string reply = all_of(socket.get());
  EXPECT_EQ(status_of(reply), "502") << reply;
  EXPECT_NE(told_error(reply).find("run 1"), std::string::npos);
}

}  // namespace
}  // namespace fettle
