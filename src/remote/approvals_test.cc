/// Plans of schedules that wait until they are approved, and fetches that last.

#include "base/rfc3339.h"
#include "remote/audit_log.h"
#include "remote/notices.h"
#include "remote/scheduled_run.h"
#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

TEST(PlannedRequests, AreThoseOfWhichAPlanIsCarriedOut) {
  CommandRequest request;
  request.words = {"run", ".", "-e", "prod"};
  const CommandRequest planned = request_to_plan(request).value();
  EXPECT_EQ(join(planned.words, " "), "plan --out /.fettle-plan --detailed-exitcode . -e prod");
  EXPECT_EQ(planned.writes, std::vector<std::string>{"/.fettle-plan"});
  EXPECT_EQ(planned.paths, planned.writes);
  const CommandRequest carried = request_by_plan(request);
  EXPECT_EQ(join(carried.words, " "), "run --plan /.fettle-plan . -e prod");
  EXPECT_TRUE(carried.writes.empty());
  for (const auto& [command, plan, carries] : std::vector<std::array<std::string, 3>>{
           {"state site.sls --on b", "state --test --out P --detailed-exitcode site.sls --on b",
            "state --plan P site.sls --on b"},
           {"versions release 3 -e net", "plan --out P --detailed-exitcode --version 3 -e net",
            "versions release --plan P 3 -e net"},
           {"versions release -e net", "plan --out P --detailed-exitcode -e net",
            "versions release --plan P -e net"}}) {
    const auto words = split(command, ' ');
    request.words.assign(words.begin(), words.end());
    const auto shown = [](const CommandRequest& made) {
      std::string text = join(made.words, " ");
      const std::string path = "/.fettle-plan";
      return text.replace(text.find(path), path.size(), "P");
    };
    EXPECT_EQ(shown(request_to_plan(request).value()), plan);
    EXPECT_EQ(shown(request_by_plan(request)), carries);
  }
  request.words = {"versions", "ls"};
  EXPECT_FALSE(request_to_plan(request));
  request.words[0] = "deploy";
  EXPECT_EQ(request_to_plan(request).error().blame, Blame::user);
  request.words.clear();
  EXPECT_FALSE(request_to_plan(request));
}

/// A server whose git has one file, the text of the file `head`, of which the commit is named
/// after it. `plan` writes what is to be done with it, and `run` prints that.
class ApprovalsTest : public ServerOfCommandsTest {
 protected:
  ApprovalsTest() {
    const Path head = home_.path() / "head", slow = home_.path() / "slow";
    fetch_ = [head, slow](const Path& folder, const std::string&,
                          const std::string&) -> Result<std::string> {
      while (file_exists(slow))
        usleep(5'000);
      const std::string text = TRY(read_file(head));
      const Path checkout = folder / cat("checkout@", text, "0000000000000000");
      TRY(make_directories(checkout));
      TRY(write_file(checkout / "text", text));
      return checkout.string();
    };
  }
  void serve_plans() {
    const Path code = home_.path() / "code", flag_file = flag();
    serve({}, [code, flag_file](const CommandRequest& request, const std::string& root) {
      const std::string text = read_file(cat(root, request.folder, "/text")).value_or("no text");
      const std::string plan = cat(root, request.words[2]);
      if (request.words[0] == "plan") {
        if (text == "same")
          return 0;
        if (text == "broken")
          return 1;
        return write_file(plan, cat("do ", text)) ? 4 : 9;
      }
      say(cat(read_file(plan).value_or("no plan"), " with ", text, "\n"));
      while (read_file(code).value_or("") == "wait" && !file_exists(flag_file))
        usleep(5'000);
      return read_file(code).value_or("") == "1" ? 1 : 0;
    });
  }
  void push(const std::string& text) const { ASSERT_TRUE(write_file(home_.path() / "head", text)); }
  void add(bool needs_approval = true) const {
    Schedule made;
    made.name = "one";
    made.request.words = {"run", "."};
    made.request.folder = "/schedules/one";
    made.shown = "run .";
    made.git = {"https://git.example/r", "main"};
    made.token = own_token_name;
    made.right = Right::act;
    made.added = now_from_clock();
    made.needs_approval = needs_approval;
    made.notify = {"http://127.0.0.1:1", {NoticeEvent::waiting}};
    ASSERT_TRUE(book_.add(made, "/", {{}, "http://127.0.0.1:1/", "x"}));
  }
  ScheduleState state() const { return *book_.state("one"); }
  void change(const std::function<void(ScheduleState&)>& change) const {
    ASSERT_TRUE(book_.change("one", change));
    book_.wake();
  }
  void await_run(int64_t number) const {
    ASSERT_TRUE(comes([&] {
      return state().run == number && state().code && state().told == number;
    })) << state().run
        << state().why_not;
  }
  /// Has it look, until the run of this number has ended.
  void look(int64_t number) const {
    change([](ScheduleState& one) { ++one.calls; });
    await_run(number);
  }
  void approve(int64_t plan) const {
    change([&](ScheduleState& one) {
      one.approved = plan;
      one.approver = "lead";
    });
  }
  std::string printed(int64_t run) const { return Client(attach(run)).end().output; }

  const ScheduleBook book_{schedule_book(home_.path())};
};

TEST_F(ApprovalsTest, APlanWaitsAndIsCarriedOutAsItWasMade) {
  push("a");
  add();
  serve_plans();
  look(1);
  EXPECT_EQ(cat(state().plan, " ", *state().code), "1 0");
  EXPECT_EQ(runs()[0].command, "plan");
  EXPECT_EQ(Client(attach(1)).end().errors,
            "the plan waits; `fettle schedule approve one` carries it out, for another token than "
            "`serve`\n");
  ASSERT_TRUE(comes([&] { return notice_queue(book_, "one").view().waiting == 1; }));
  EXPECT_EQ(notice_queue(book_, "one").first()->event, "waiting");
  approve(1);
  await_run(2);
  EXPECT_EQ(printed(2), "do a with a\n");
  EXPECT_EQ(state().plan, 0);
  EXPECT_EQ(state().approver, "");
  EXPECT_FALSE(file_exists(book_.plan_file("one", 1)));
  EXPECT_EQ(audit_log(home_.path()).all()->back().from, "schedule one, plan 1 approved by lead");
  change([](ScheduleState& one) { ++one.calls; });
  ASSERT_TRUE(comes([&] { return !state().is_called(); }));
  EXPECT_EQ(runs().size(), 2u) << "nothing is new";
}

TEST_F(ApprovalsTest, ANewerPlanTakesItsPlaceAndAnOldApprovalDoesNotCount) {
  push("a");
  add();
  serve_plans();
  look(1);
  push("b");
  look(2);
  EXPECT_EQ(state().plan, 2);
  approve(1);
  usleep(300'000);
  EXPECT_EQ(runs().size(), 2u);
  approve(2);
  await_run(3);
  EXPECT_EQ(printed(3), "do b with b\n");
}

TEST_F(ApprovalsTest, WhereNothingIsDueNoPlanWaits) {
  push("a");
  add();
  serve_plans();
  look(1);
  push("same");
  look(2);
  EXPECT_EQ(cat(state().plan, " ", *state().code), "0 0");
}

TEST_F(ApprovalsTest, APlanIsCarriedOutWithTheFilesOfItsCommit) {
  push("a");
  add();
  serve_plans();
  look(1);
  push("broken");
  look(2);
  EXPECT_EQ(cat(state().plan, " ", *state().code), "1 1") << "the plan before still waits";
  approve(1);
  await_run(3);
  EXPECT_EQ(printed(3), "do a with a\n");
}

TEST_F(ApprovalsTest, OneThatFailedIsPlannedAgain) {
  push("a");
  add();
  serve_plans();
  look(1);
  ASSERT_TRUE(write_file(home_.path() / "code", "1"));
  approve(1);
  await_run(2);
  EXPECT_EQ(cat(state().plan, " ", *state().code), "0 1");
  look(3);
  EXPECT_EQ(state().plan, 3);
}

TEST_F(ApprovalsTest, OneThatWasKilledIsNotCarriedOutTwice) {
  push("a");
  add();
  serve_plans();
  look(1);
  ASSERT_TRUE(write_file(home_.path() / "code", "wait"));
  approve(1);
  ASSERT_TRUE(comes([&] { return state().run == 2 && runs()[1].is_running; }));
  kill_all();
  server_.address.port = 0;
  serve_plans();
  ASSERT_TRUE(comes([&] { return runs().size() == 2 && status_of(runs()[1]) == "killed"; }));
  EXPECT_EQ(cat(state().plan, " ", state().run), "0 2");
  usleep(300'000);
  EXPECT_EQ(runs().size(), 2u);
}

TEST_F(ApprovalsTest, AFetchThatLastsIsARunAndIsCancelled) {
  push("a");
  ASSERT_TRUE(write_file(home_.path() / "slow", ""));
  add(false);
  serve();
  change([](ScheduleState& one) { ++one.calls; });
  ASSERT_TRUE(comes([&] { return state().run == 1; }));
  ASSERT_TRUE(cancel_run(server_, 1, {"1.0", {}}));
  await_run(1);
  EXPECT_EQ(state().code, 130);
  EXPECT_EQ(Client(attach(1)).end().errors, "fetching https://git.example/r\nerror: interrupted\n");
  std::filesystem::remove(home_.path() / "slow");
  ASSERT_TRUE(write_file(flag(), ""));
  look(2);
  EXPECT_EQ(state().commit, "a0000000000000000");
}

TEST_F(ApprovalsTest, APasswordOfARepositoryIsSealed) {
  const Path seen = home_.path() / "seen";
  fetch_ = [seen](const Path&, const std::string& url, const std::string&) -> Result<std::string> {
    TRY(write_file(seen, url));
    return world_error("no such repository");
  };
  Schedule made;
  made.name = "one";
  made.request.words = {"acts"};
  made.request.folder = "/schedules/one";
  made.shown = "acts";
  made.git = {"https://git.example/r", ""};
  made.token = own_token_name;
  made.right = Right::act;
  made.added = now_from_clock();
  const std::string url = "https://me:sesame@git.example/r";
  ScheduleSecrets secrets;
  secrets.git_url = url;
  ASSERT_TRUE(book_.add(made, "/", secrets));
  for (const char* const file : {"about", "secrets", "request", "state"})
    EXPECT_EQ(read_file(home_.path() / "serve/schedules/one" / file)->find("sesame"),
              std::string::npos)
        << file;
  serve();
  look(1);
  EXPECT_EQ(read_file(seen).value(), url);
  EXPECT_EQ(Client(attach(1)).end().errors, "error: no such repository\n");
}

TEST_F(ApprovalsTest, AFetchThatLastsAndBringsNothingEndsWell) {
  push("a");
  add();
  serve_plans();
  look(1);
  ASSERT_TRUE(write_file(home_.path() / "slow", ""));
  change([](ScheduleState& one) { ++one.calls; });
  ASSERT_TRUE(comes([&] { return state().run == 2; }));
  std::filesystem::remove(home_.path() / "slow");
  await_run(2);
  EXPECT_EQ(cat(*state().code, " ", state().plan), "0 1");
  EXPECT_EQ(Client(attach(2)).end().errors,
            "fetching https://git.example/r\nnothing is new since commit a00000000000\n");
}

}  // namespace
}  // namespace fettle
