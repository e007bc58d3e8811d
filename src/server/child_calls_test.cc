/// Requests that a child answers: programs of the test that print, fail, hang, eat memory and die,
/// and kept plans.

#include "server/child_calls.h"

#include <sys/stat.h>

#include "tests/fixtures/server_fixture.h"
#include "verbs/environments/plan_files.h"
#include "verbs/packages/last_run.h"
#include "verbs/states/last_states.h"

namespace fettle {
namespace {

class ChildCallsTest : public ServerTest {
 protected:
  /// The lines of a shell, which see the words as `$*`.
  void serve_with(const std::string& lines, const ChildLimits& limits = {}) {
    const std::string program = home_.path("program");
    ASSERT_TRUE(write_file(program, cat("#!/bin/sh\n", lines, "\n"), 0700));
    serve({.program = program, .child = limits});
    enter();
  }
  void run_once() { ASSERT_EQ(run(add("web")), "R"); }
  std::string error_of(const std::string& reply) {
    return std::string(document_in(reply).at("error").text_at("message"));
  }
  static constexpr const char* plan = "/api/environments/e/plan";
};

TEST_F(ChildCallsTest, ThePlanIsWhatTheCommandPrintsThatIsShown) {
  run_once();
  serve_with(
      "printf '{\"steps\": [], \"words\": \"%s\", \"home\": \"%s\"}' \"$*\" \"$FETTLE_HOME\"");
  const Value told = asked(plan);
  const std::string package = package_identity(request_.package);
  EXPECT_EQ(told.text_at("command"), cat("fettle plan ", package, " -e e --reuse-args"));
  EXPECT_EQ(told.at("plan").text_at("words"),
            cat("plan ", package, " -e e --reuse-args --server local -o json --quiet"));
  EXPECT_EQ(told.at("plan").text_at("home"), place_.home);
}

TEST_F(ChildCallsTest, ItsErrorIsTold) {
  run_once();
  serve_with("echo '{\"error\": {\"blame\": \"user\", \"message\": \"main.star:2: no\"}}'; exit 2");
  const std::string reply = told(plan);
  EXPECT_EQ(status_of(reply), "400") << reply;
  EXPECT_EQ(error_of(reply), "main.star:2: no");
}

TEST_F(ChildCallsTest, OneThatDiesTakesNobodyWithIt) {
  run_once();
  serve_with("echo going >&2; kill -SEGV $$");
  const std::string reply = told(plan);
  EXPECT_EQ(status_of(reply), "502") << reply;
  EXPECT_NE(error_of(reply).find("ended with signal 11: going"), std::string::npos) << reply;
  EXPECT_EQ(status_of(told("/api/environments")), "200");
}

TEST_F(ChildCallsTest, OneThatNeverEndsIsEndedAndOthersAreServedMeanwhile) {
  run_once();
  serve_with("sleep 1000", {.time = 300ms});
  const Wire slow(server_->port());
  ASSERT_TRUE(slow.say(request(plan, cat("Cookie: ", cookie_, "\r\n"))));
  EXPECT_EQ(status_of(told("/api/environments")), "200");
  EXPECT_EQ(status_of(slow.rest()), "502");
}

TEST_F(ChildCallsTest, ItsMemoryTimeAndOutputAreLimited) {
  run_once();
  serve_with(
      "printf '{\"steps\": [], \"memory\": \"%s\", \"time\": \"%s\", \"core\": \"%s\"}' "
      "$(ulimit -v) $(ulimit -t) $(ulimit -c)",
      {.time = 7s, .memory_bytes = 1'073'741'824});
  const Value told = asked(plan).at("plan");
  EXPECT_EQ(told.text_at("memory"), "1048576");
  EXPECT_EQ(told.text_at("time"), "8");
  EXPECT_EQ(told.text_at("core"), "0");
}

TEST_F(ChildCallsTest, TooMuchOutputIsAnError) {
  run_once();
  serve_with("head -c 100000 /dev/zero", {.output_bytes = 10'000});
  EXPECT_EQ(status_of(told(plan)), "502");
}

TEST_F(ChildCallsTest, AServerThatEndsEndsItsChild) {
  run_once();
  serve_with("sleep 1000");
  const Wire slow(server_->port());
  ASSERT_TRUE(slow.say(request(plan, cat("Cookie: ", cookie_, "\r\n"))));
  EXPECT_EQ(status_of(told("/api/environments")), "200");
  stop();  // hangs if it waits for the child
  EXPECT_NE(status_of(slow.rest()), "200");
}

TEST_F(ChildCallsTest, StatesAreTestedAsTheyWereAskedAndWhereTheyWere) {
  const std::string folder = home_.path("files");
  ASSERT_TRUE(make_directories(folder));
  const auto edit = home_.edit("e");
  ASSERT_TRUE(ensure_environment(place_, *edit, Value::dict({})));
  ASSERT_TRUE(
      write_last_states(place_, *edit, {{"state", "site.sls", "-e", "e", "--target=a b"}, folder}));
  serve_with("printf '{\"words\": \"%s\", \"folder\": \"%s\"}' \"$*\" \"$PWD\"");
  const Value told = asked(plan);
  EXPECT_EQ(told.text_at("source"), "states");
  EXPECT_EQ(told.at("plan").text_at("words"),
            "state site.sls -e e --target=a b --test --server local -o json --quiet");
  EXPECT_EQ(told.at("plan").text_at("folder"), folder);
}

TEST_F(ChildCallsTest, WhatIsNotKnownHasNoPlan) {
  ASSERT_TRUE(ensure_environment(place_, *home_.edit("e"), Value::dict({})));
  serve_with("exit 1");
  const std::string reply = told(plan);
  EXPECT_EQ(status_of(reply), "404") << reply;
  EXPECT_NE(error_of(reply).find("`fettle state --test -e e FILE`"), std::string::npos) << reply;
  EXPECT_EQ(status_of(told("/api/environments/nope/plan")), "404");
}

class KeptPlansTest : public ChildCallsTest {
 protected:
  std::string keep(const std::string& name, KeptPlan plan) {
    const std::string file = home_.path(name);
    EXPECT_TRUE(write_file(
        file, write_json(plan_file_of(
                  plan, {Value::dict({{"verb", "create"}, {"key", "e:service/web"}})}))));
    EXPECT_TRUE(remember_plan_file(place_.home, file));
    return file;
  }
  KeptPlan of_package(const std::string& digest = "d", const std::string& asked = "a") {
    return {.environment = "e", .digest = digest, .version = {}, .package = "/p", .asked = asked};
  }
};

TEST_F(KeptPlansTest, AreListedWhileTheyAreThere) {
  const std::string one = keep("one.plan", of_package()), two = keep("two.plan", of_package());
  keep("one.plan", of_package());  // once
  const std::string gone = keep("gone.plan", of_package());
  std::filesystem::remove(gone);
  const std::string other = keep("other.plan", {.environment = "f", .digest = "d", .version = 3});
  const std::string broken = keep("broken.plan", of_package());
  ASSERT_TRUE(write_file(broken, "{}"));
  const std::string pipe = keep("pipe.plan", of_package());
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  serve_with("exit 1");
  std::set<std::string> files;
  const Value all = asked("/api/plans");
  for (const Value& file : all.items())
    files.emplace(file.text_at("file"));
  EXPECT_EQ(files, (std::set<std::string>{one, two, other}));
  const Value of_one = asked("/api/plans?environment=f");
  ASSERT_EQ(of_one.items().size(), 1u);
  EXPECT_EQ(of_one.items()[0].integer_at("version"), 3);
  const Value shown = asked(cat("/api/plans/steps?file=", two));
  EXPECT_EQ(shown.at("steps").items()[0].text_at("key"), "e:service/web");
}

TEST_F(KeptPlansTest, NoOtherFileIsRead) {
  const std::string file = home_.path("secret.plan");
  ASSERT_TRUE(write_file(file, write_json(plan_file_of(of_package(), {}))));
  serve_with("exit 1");
  for (const std::string& path : {file, std::string("/etc/passwd"), std::string()})
    for (const char* question : {"steps", "stand"})
      EXPECT_EQ(status_of(told(cat("/api/plans/", question, "?file=", path))), "404") << path;
}

TEST_F(KeptPlansTest, AreStaleWhenSomethingElseIsDue) {
  const std::string file = keep("kept.plan", of_package());
  // The child prints the plan of now.
  serve_with(cat("cat ", home_.path("now")));
  const auto stand = [&](const KeptPlan& now) {
    EXPECT_TRUE(write_file(home_.path("now"), write_json(plan_file_of(now, {}))));
    return std::string(asked(cat("/api/plans/stand?file=", file)).text_at("stand"));
  };
  EXPECT_EQ(stand(of_package()), "due");
  EXPECT_EQ(stand(of_package("other")), "stale");
  EXPECT_EQ(stand(of_package("d", "other arguments")), "unknown");
  EXPECT_EQ(stand(of_package("other", "other arguments")), "unknown");
}

TEST_F(KeptPlansTest, AreMadeAgainWithTheirFlags) {
  KeptPlan plan = of_package();
  plan.edit_in_place = plan.replay = true;
  const std::string package = keep("package.plan", plan);
  const std::string model = keep("model.plan", {.environment = "m", .digest = "d", .version = 3});
  const std::string folder =
      keep("folder.plan", {.environment = "m", .digest = "d", .version = {}});
  serve_with(cat("echo \"$*\" >>", home_.path("words"), "; exit 1"));
  EXPECT_EQ(status_of(told(cat("/api/plans/stand?file=", package))), "502");
  EXPECT_EQ(status_of(told(cat("/api/plans/stand?file=", model))), "502");
  EXPECT_EQ(*read_file(home_.path("words")),
            "plan /p -e e --edit-in-place --replay --out - --server local -o json --quiet\n"
            "plan --version 3 -e m --out - --server local -o json --quiet\n");
  EXPECT_EQ(asked(cat("/api/plans/stand?file=", folder)).text_at("stand"), "unknown");
}

TEST_F(KeptPlansTest, GiveNoFlags) {
  KeptPlan plan = of_package();
  plan.package = "--show-secrets";
  const std::string package = keep("package.plan", plan);
  const std::string environment =
      keep("environment.plan", {.environment = "--all", .digest = "d", .version = 3});
  serve_with(cat("touch ", home_.path("was_called")));
  EXPECT_EQ(asked(cat("/api/plans/stand?file=", package)).text_at("stand"), "unknown");
  EXPECT_EQ(status_of(told(cat("/api/plans/stand?file=", environment))), "400");
  EXPECT_FALSE(std::filesystem::exists(home_.path("was_called")));
}

TEST_F(KeptPlansTest, TheListForgetsTheOldest) {
  for (int i = 0; i < 101; ++i)
    keep(cat("p", i), of_package());
  const auto files = plan_files(place_.home);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 100u);
  EXPECT_FALSE(find_plan_file(place_.home, home_.path("p0")));
  EXPECT_TRUE(find_plan_file(place_.home, home_.path("p100")));
}

}  // namespace
}  // namespace fettle
