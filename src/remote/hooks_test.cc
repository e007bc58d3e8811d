/// Calls of hooks: who is let in, and what comes of it, over real sockets.

#include "remote/hooks.h"

#include "base/hmac.h"
#include "remote/audit_log.h"
#include "remote/schedules.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/http_reply.h"

namespace fettle {
namespace {

const std::string hook_secret = std::string(32, '5') + std::string(32, 'a');

std::string hub_signature(std::string_view body, std::string_view secret = hook_secret) {
  return cat("sha256=", hmac_sha256_hex(secret, body));
}

TEST(HookProofs, AreThoseOfGitHubGitLabAndBearers) {
  const std::string body = R"({"ref":"refs/heads/main"})";
  EXPECT_TRUE(is_proven({.signature = hub_signature(body), .body = body}, hook_secret));
  EXPECT_TRUE(is_proven({.gitlab_token = hook_secret}, hook_secret));
  EXPECT_TRUE(is_proven({.authorization = cat("Bearer ", hook_secret)}, hook_secret));
}

TEST(HookProofs, OfAnotherBodyOrSecretAreNone) {
  const std::string body = R"({"ref":"refs/heads/main"})";
  EXPECT_FALSE(is_proven({.signature = hub_signature(body), .body = body + " "}, hook_secret));
  EXPECT_FALSE(is_proven({.signature = hub_signature(body, "x"), .body = body}, hook_secret));
  EXPECT_FALSE(is_proven({.signature = hub_signature(body).substr(7), .body = body}, hook_secret));
  EXPECT_FALSE(is_proven({.signature = hub_signature(body, "")}, ""));
  EXPECT_FALSE(is_proven({.gitlab_token = hook_secret.substr(1)}, hook_secret));
  EXPECT_FALSE(is_proven({.gitlab_token = ""}, ""));
  EXPECT_FALSE(is_proven({.authorization = hook_secret}, hook_secret));
  EXPECT_FALSE(is_proven({.authorization = "Bearer "}, ""));
  EXPECT_FALSE(is_proven({}, hook_secret));
  EXPECT_FALSE(is_proven({.gitlab_token = hook_secret, .authorization = "Bearer x"}, hook_secret))
      << "of two, another program would look at the other one";
}

TEST(HookBodies, APushToAnotherBranchIsIgnored) {
  const auto reason = [](std::string body, const std::string& branch, std::string event = "push") {
    return reason_to_ignore({.event = std::move(event), .body = std::move(body)}, branch).value();
  };
  EXPECT_EQ(reason(R"({"ref":"refs/heads/main"})", "main"), "");
  EXPECT_EQ(reason(R"({"ref":"refs/heads/main"})", "main", "Push Hook"), "");
  EXPECT_EQ(reason(R"({"ref":"refs/heads/x/main"})", "main"),
            "`refs/heads/x/main` was pushed, and the schedule follows `main`");
  EXPECT_NE(reason(R"({"ref":"refs/tags/main"})", "main"), "");
  // Without a branch, the default one counts, where the forge says which that is.
  EXPECT_EQ(reason(R"({"ref":"refs/heads/b","repository":{"default_branch":"b"}})", ""), "");
  EXPECT_NE(reason(R"({"ref":"refs/heads/b","project":{"default_branch":"c"}})", ""), "");
  EXPECT_EQ(reason(R"({"ref":"refs/heads/b"})", ""), "");
  EXPECT_EQ(reason("{}", "main"), "");
  EXPECT_EQ(reason("", "main", ""), "");
  EXPECT_EQ(reason(R"({"zen":"x"})", "main", "ping"), "the event `ping` is no push");
}

TEST(HookBodies, BrokenAndDeepOnesAreErrors) {
  for (const std::string& body :
       {std::string("payload=%7B%7D"), std::string("{"), std::string("[]"), std::string("{} x"),
        std::string(2'000'000, '['), cat(R"({"ref":)", std::string(100'000, '{'))}) {
    const auto reason = reason_to_ignore({.body = body}, "main");
    ASSERT_FALSE(reason) << body.substr(0, 40);
    EXPECT_EQ(reason.error().blame, Blame::user);
  }
}

class HooksTest : public ServerOfCommandsTest {
 protected:
  void add(const std::string& name, std::vector<std::string> words, GitSource git = {},
           bool has_hook = true) const {
    Schedule made;
    made.name = name;
    made.request.words = std::move(words);
    made.request.folder = "/home/me";
    made.shown = made.request.words[0];
    made.git = std::move(git);
    made.token = own_token_name;
    made.right = Right::act;
    made.added = now_from_clock();
    made.has_hook = has_hook;
    const Status added = book_.add(made, "/", {has_hook ? hook_secret : ""});
    ASSERT_TRUE(added) << to_string(added.error());
    book_.wake();
  }
  std::string called(std::string_view target, std::string_view fields, std::string_view body = {},
                     std::string_view method = "POST") const {
    return sent(cat(method, " ", target, " HTTP/1.1\r\nHost: ci.example\r\n", fields,
                    "Content-Length: ", body.size(), "\r\n\r\n", body));
  }
  static std::string signed_by(std::string_view body) {
    return cat("X-GitHub-Event: push\r\nX-Hub-Signature-256: ", hub_signature(body), "\r\n");
  }
  ScheduleState state(const std::string& name) const { return *book_.state(name); }
  std::vector<AuditEntry> noted() const { return *audit_log(home_.path()).all(); }

  const std::string bearer_ = cat("Authorization: Bearer ", hook_secret, "\r\n");
  const ScheduleBook book_{schedule_book(home_.path())};
};

TEST_F(HooksTest, ACallBeginsARun) {
  serve();
  add("one", {"acts"});
  const std::string body = R"({"ref":"refs/heads/main"})";
  const std::string reply = called("/hooks/one", signed_by(body), body);
  EXPECT_EQ(status_of(reply), "202") << reply;
  EXPECT_EQ(document_in(reply).text_at("status"), "called");
  ASSERT_TRUE(comes([&] { return state("one").code == 0; }));
  EXPECT_EQ(state("one").run, 1);
  EXPECT_FALSE(state("one").is_called());
  const AuditEntry entry = noted()[0];
  EXPECT_EQ(cat(entry.token, entry.command, " ", entry.right, " ", entry.code.value_or(9)),
            "POST /hooks/one act 0");
  EXPECT_TRUE(entry.from.starts_with("127.0.0.1:"));
}

TEST_F(HooksTest, AllThreeProofsCountAndABodyMayComeInPieces) {
  serve();
  add("one", {"acts"});
  EXPECT_EQ(status_of(called("/hooks/one?x=1", bearer_)), "202");
  EXPECT_EQ(
      status_of(called("/hooks/one",
                       cat("X-Gitlab-Event: Push Hook\r\nX-Gitlab-Token: ", hook_secret, "\r\n"),
                       R"({"ref":"refs/heads/x"})")),
      "202");
  EXPECT_EQ(status_of(sent(cat("POST /hooks/one HTTP/1.1\r\n", bearer_,
                               "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))),
            "202");
  ASSERT_TRUE(comes([&] { return state("one").code == 0 && !state("one").is_called(); }));
}

TEST_F(HooksTest, AWrongSecretAndAnUnknownNameLookTheSame) {
  serve();
  add("one", {"acts"});
  add("closed", {"acts"}, {}, false);
  const std::string wrong = "X-Gitlab-Token: wrong\r\n";
  const std::string answer = called("/hooks/one", wrong);
  EXPECT_EQ(status_of(answer), "404");
  for (const char* const name : {"none", "closed", "", "../one", ".", "one/x", "%2e%2e"})
    EXPECT_EQ(called(cat("/hooks/", name), wrong), answer) << name;
  EXPECT_EQ(called("/hooks/closed", bearer_), answer);
  EXPECT_EQ(called("/hooks/one", cat(bearer_, wrong)), called("/hooks/none", cat(bearer_, wrong)));
  const std::string unsaid = called("/hooks/one", "");
  EXPECT_EQ(status_of(unsaid), "401");
  EXPECT_EQ(called("/hooks/none", ""), unsaid);
  // A token of the server is no secret of a hook.
  EXPECT_EQ(called("/hooks/one", cat("Authorization: Bearer ", server_.token, "\r\n")), answer);
  EXPECT_EQ(state("one").calls, 0);
  EXPECT_TRUE(runs().empty());
}

TEST_F(HooksTest, NoSecretIsWrittenAnywhere) {
  serve();
  add("one", {"acts"});
  ASSERT_EQ(status_of(called("/hooks/one", bearer_)), "202");
  ASSERT_EQ(status_of(called(cat("/hooks/", hook_secret), bearer_)), "404");
  ASSERT_EQ(status_of(called("/hooks/one", cat("X-Gitlab-Token: ", hook_secret, "x\r\n"))), "404");
  ASSERT_TRUE(comes([&] { return state("one").code == 0; }));
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.path()))
    if (entry.is_regular_file()) {
      ++files;
      EXPECT_EQ(read_file(entry.path()).value_or("").find(hook_secret), std::string::npos)
          << entry.path();
    }
  EXPECT_GT(files, 5u);
  EXPECT_EQ(book_.secrets("one")->hook, hook_secret);
  // Whoever has the schedules without the key has no secret.
  ASSERT_TRUE(remove_tree(home_.path() / "serve/schedules.key"));
  EXPECT_FALSE(book_.secrets("one"));
  EXPECT_EQ(status_of(called("/hooks/one", bearer_)), "404");
}

TEST_F(HooksTest, WhatIsNoCallIsRefused) {
  serve();
  add("one", {"acts"}, {"https://nowhere.invalid/r", "main"});
  EXPECT_EQ(status_of(called("/hooks/one", bearer_, "", "GET")), "405");
  EXPECT_EQ(status_of(called("/hooks/one", cat(bearer_, "Origin: http://x\r\n"))), "403");
  EXPECT_EQ(status_of(called("/hooks/one", signed_by("{"), "{")), "400");
  const std::string deep(100'000, '[');
  EXPECT_EQ(status_of(called("/hooks/one", signed_by(deep), deep)), "400");
  EXPECT_EQ(status_of(sent(cat("POST /hooks/one HTTP/1.1\r\n", bearer_,
                               "Content-Length: ", most_hook_bytes + 1, "\r\n\r\n"))),
            "413");
  EXPECT_EQ(status_of(sent(cat("POST /hooks/one HTTP/1.1\r\n", bearer_,
                               "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"))),
            "400");
  const std::string other = R"({"ref":"refs/heads/other"})";
  const std::string reply = called("/hooks/one", signed_by(other), other);
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_EQ(document_in(reply).text_at("status"), "ignored");
  EXPECT_EQ(state("one").calls, 0);
  EXPECT_TRUE(runs().empty());
}

TEST_F(HooksTest, ManyCallsAreOneRunAndOneMoreForThoseThatComeMeanwhile) {
  serve();
  add("long", {"wait", flag()});
  ASSERT_EQ(status_of(called("/hooks/long", bearer_)), "202");
  ASSERT_TRUE(comes([&] { return state("long").run == 1 && book_.is_running("long"); }));
  for (int i = 0; i < 10; ++i) {
    const std::string reply = called("/hooks/long", bearer_);
    EXPECT_EQ(status_of(reply), "202");
    EXPECT_EQ(document_in(reply).text_at("status"), "waiting");
  }
  raise_flag();
  ASSERT_TRUE(comes([&] { return state("long").run == 2 && state("long").code == 5; }));
  EXPECT_FALSE(state("long").is_called());
  usleep(200'000);
  EXPECT_EQ(runs().size(), 2u);
}

TEST_F(HooksTest, ACallOutlivesItsServer) {
  add("one", {"acts"});
  ASSERT_TRUE(book_.change("one", [](ScheduleState& one) { ++one.calls; }));
  serve();
  ASSERT_TRUE(comes([&] { return state("one").code == 0; }));
  EXPECT_EQ(runs().size(), 1u);
}

TEST_F(HooksTest, ThoseThatSendSlowlyAreFewAndEnd) {
  serve({.upload_limit = 1s});
  add("one", {"acts"});
  const std::string slow =
      cat("POST /hooks/one HTTP/1.1\r\n", bearer_, "Content-Length: 100\r\n\r\n{");
  std::vector<Descriptor> sockets;
  // On a busy machine, those who send slowly may be let go before anybody else has called.
  EXPECT_TRUE(comes([&] {
    sockets.clear();
    for (size_t i = 0; i < most_hook_calls; ++i) {
      sockets.push_back(connected());
      EXPECT_EQ(::send(sockets.back().get(), slow.data(), slow.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(slow.size()));
    }
    return status_of(called("/hooks/one", bearer_)) == "429";
  }));
  EXPECT_TRUE(comes([&] { return status_of(called("/hooks/one", bearer_)) == "202"; }));
  EXPECT_EQ(told({"acts"}).code, 0) << "others are served meanwhile";
}

TEST_F(HooksTest, ACallThatCannotBeNotedBeginsNothing) {
  serve();
  add("one", {"acts"});
  ASSERT_TRUE(remove_tree(home_.path() / "serve/audit"));
  ASSERT_TRUE(write_file(home_.path() / "serve/audit", "no folder"));
  EXPECT_EQ(status_of(called("/hooks/one", bearer_)), "503");
  EXPECT_EQ(state("one").calls, 0);
}

}  // namespace
}  // namespace fettle
