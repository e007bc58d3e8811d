/// What is posted to one's own page: a program of the test carries plans out.

#include "server/plan_acts.h"

#include <csignal>

#include "base/wait.h"
#include "tests/fixtures/server_fixture.h"
#include "verbs/packages/last_run.h"
#include "verbs/states/last_states.h"

namespace fettle {
namespace {

class PlanActsTest : public ServerTest {
 protected:
  /// The lines of a shell, which see the words as `$*`.
  void serve_with(const std::string& lines) {
    const std::string program = home_.path("program");
    ASSERT_TRUE(write_file(program, cat("#!/bin/sh\n", lines, "\n"), 0700));
    serve({.program = program});
    const std::string reply = sent(request(key_target()));
    const std::string cookie = "Set-Cookie: ", key = "#key=";
    const size_t at = reply.find(cookie) + cookie.size();
    cookie_ = reply.substr(at, reply.find(';', at) - at);
    key_ = reply.substr(reply.find(key) + key.size(), 64);
  }
  void run_once() { ASSERT_EQ(run(add("web")), "R"); }
  std::string fields() const {
    return cat("Origin: http://", host_, "\r\nFettle-Key: ", key_,
               "\r\nContent-Type: application/json\r\n");
  }
  std::string post(std::string_view target, const std::string& body,
                   const std::string& fields) const {
    return sent(posted(target, body, fields));
  }
  std::string posted(std::string_view target, const std::string& body,
                     const std::string& fields) const {
    return cat("POST ", target, " HTTP/1.1\r\nHost: ", host_,
               "\r\nConnection: close\r\nCookie: ", cookie_, "\r\n", fields,
               "Content-Length: ", body.size(), "\r\n\r\n", body);
  }
  std::string error_of(const std::string& reply) const {
    return std::string(document_in(reply).at("error").text_at("message"));
  }
  bool comes(const std::string& path) const {
    for (int i = 0; i < 1'000 && !file_exists(path); ++i)
      static_cast<void>(pause_for(10ms, {}));
    return file_exists(path);
  }

  std::string key_;
  static constexpr const char* plan = "/api/environments/e/plan";
  static constexpr const char* cancel = "/api/environments/e/plan/cancel";
  static constexpr const char* seen = R"({"source": "package", "plan": {"digest": "d"}})";
};

TEST_F(PlanActsTest, ThePlanThatWasSeenIsCarriedOut) {
  run_once();
  serve_with("echo \"$*\"; echo $FETTLE_HOME >&2; cat $7; exit 3");
  const std::string reply = post(plan, seen, fields());
  ASSERT_EQ(status_of(reply), "200") << reply;
  const Value told = document_in(reply);
  EXPECT_EQ(told.integer_at("code"), 3);
  const std::string output(told.text_at("output"));
  const Path acts = Path(place_.home) / "page-acts";
  EXPECT_TRUE(output.starts_with(cat("run ", package_identity(request_.package),
                                     " -e e --reuse-args --plan ", acts.string(), "/")))
      << output;
  EXPECT_NE(output.find(cat("plan --server local\n", place_.home, "\n")), std::string::npos)
      << output;
  EXPECT_TRUE(output.ends_with(R"({"digest":"d"})")) << output;
  // Nothing is left of it.
  EXPECT_TRUE(std::filesystem::is_empty(acts));
}

TEST_F(PlanActsTest, StatesAreAppliedAsTheyWereAskedAndWhereTheyWere) {
  const std::string folder = home_.path("files");
  ASSERT_TRUE(make_directories(folder));
  {
    const auto edit = home_.edit("e");
    ASSERT_TRUE(ensure_environment(place_, *edit, Value::dict({})));
    ASSERT_TRUE(write_last_states(place_, *edit, {{"state", "site.sls", "-e", "e"}, folder}));
  }
  serve_with("echo \"$* in $PWD\"");
  const std::string reply = post(plan, R"({"source": "states", "plan": null})", fields());
  EXPECT_EQ(document_in(reply).text_at("output"),
            cat("state site.sls -e e --server local in ", folder, "\n"))
      << reply;
}

TEST_F(PlanActsTest, WhatDoesNotFitIsRefusedAndNothingIsBegun) {
  run_once();
  serve_with("touch $FETTLE_HOME/begun");
  for (const char* const body :
       {"", "{", "[]", "null", "{}", R"({"source": 1})", R"({"source": "model", "plan": {}})",
        R"({"source": "package", "plan": null})", R"({"source": "package", "plan": "x"})",
        R"({"source": "manifests", "plan": 1})"}) {
    const std::string reply = post(plan, body, fields());
    EXPECT_EQ(status_of(reply), "400") << body << ": " << reply;
  }
  EXPECT_EQ(status_of(post("/api/environments/f/plan", seen, fields())), "404");
  EXPECT_EQ(status_of(post(cat(plan, "?x=1"), seen, fields())), "400");
  EXPECT_EQ(error_of(post(cancel, "", fields())), "this page carries no plan of `e` out");
  EXPECT_EQ(status_of(post(plan, std::string(70'000, ' '), fields())), "413");
  EXPECT_FALSE(file_exists(place_.home + "/begun"));
}

TEST_F(PlanActsTest, AnotherPageAndABrowserWithoutTheKeyCannotPost) {
  run_once();
  serve_with("touch $FETTLE_HOME/begun");
  const std::string origin = cat("Origin: http://", host_, "\r\n"),
                    key = cat("Fettle-Key: ", key_, "\r\n"),
                    type = "Content-Type: application/json\r\n";
  for (const char* const target : {plan, cancel}) {
    for (const std::string& refused :
         {origin + type, key + type, cat("Origin: http://evil.example\r\n", key, type),
          cat("Origin: null\r\n", key, type), cat(origin, "Fettle-Key: x\r\n", type),
          cat(origin, key, key, type), cat(origin, key, type, "Sec-Fetch-Site: cross-site\r\n"),
          cat("Origin: http://127.0.0.1:", server_->port() + 1, "\r\n", key, type)})
      EXPECT_EQ(status_of(post(target, seen, refused)), "403") << target << " " << refused;
    for (const char* const form : {"", "Content-Type: text/plain\r\n",
                                   "Content-Type: application/x-www-form-urlencoded\r\n"})
      EXPECT_EQ(status_of(post(target, seen, origin + key + form)), "415") << form;
    const std::string cookie = std::exchange(cookie_, "");
    EXPECT_EQ(status_of(post(target, seen, fields())), "401");
    cookie_ = cookie;
  }
  EXPECT_EQ(status_of(post("/api/environments/e", seen, fields())), "405");
  EXPECT_FALSE(file_exists(place_.home + "/begun"));
}

TEST_F(PlanActsTest, ASecondOneWaitsForNobodyAndCtrlCIsPassedOn) {
  run_once();
  serve_with(
      "trap 'echo told; exit 130' INT; touch $FETTLE_HOME/begun; while :; do sleep 0.05; done");
  const Wire slow(server_->port());
  ASSERT_TRUE(slow.say(posted(plan, seen, fields())));
  ASSERT_TRUE(comes(place_.home + "/begun"));
  EXPECT_EQ(error_of(post(plan, seen, fields())), "this page carries a plan of `e` out already");
  EXPECT_EQ(status_of(told("/api/environments")), "200");
  EXPECT_EQ(status_of(post(cancel, "", fields())), "200");
  const Value end = document_in(slow.rest());
  EXPECT_EQ(end.integer_at("code"), 130);
  EXPECT_EQ(end.text_at("output"), "told\n");
}

TEST_F(PlanActsTest, WhatWasBegunOutlivesThePage) {
  run_once();
  serve_with(
      "touch $FETTLE_HOME/begun; until [ -e $FETTLE_HOME/go ]; do sleep 0.05; done; "
      "touch $FETTLE_HOME/ended");
  const Wire slow(server_->port());
  ASSERT_TRUE(slow.say(posted(plan, seen, fields())));
  ASSERT_TRUE(comes(place_.home + "/begun"));
  stop();
  slow.rest();
  ASSERT_TRUE(write_file(place_.home + "/go", ""));
  EXPECT_TRUE(comes(place_.home + "/ended"));
}

TEST_F(PlanActsTest, OfLongOutputTheEndIsTold) {
  run_once();
  serve_with("i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i + 1)); done");
  const std::string output(document_in(post(plan, seen, fields())).text_at("output"));
  EXPECT_TRUE(output.starts_with("…\nline ")) << output.substr(0, 100);
  EXPECT_TRUE(output.ends_with("\nline 29999\n"));
  EXPECT_LE(output.size(), 200'010u);
}

}  // namespace
}  // namespace fettle
