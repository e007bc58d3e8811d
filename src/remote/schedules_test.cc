/// Schedules: their state, and a server that runs them, is killed, and is started again.

#include "remote/schedules.h"

#include "base/rfc3339.h"
#include "remote/audit_log.h"
#include "remote/scheduled_run.h"
#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

Time moment(std::string_view text) { return *read_moment(text); }

TEST(ScheduleTimes, AreCountedFromTheLastTime) {
  ScheduleState state;
  state.counted = moment("2026-01-01T00:00:00Z");
  EXPECT_EQ(next_time({{}, 10min}, state), moment("2026-01-01T00:10:00Z"));
  EXPECT_TRUE(check_times({{}, 10min}));
  EXPECT_FALSE(check_times({{}, 10ms}));
  EXPECT_FALSE(check_times({{}, 10'000h}));
  EXPECT_FALSE(check_times({"nonsense", {}}));
}

TEST(ScheduleTimes, AllMissedOnesAreOneRun) {
  ScheduleState state;
  state.counted = moment("2026-01-01T00:00:00Z");
  const Time now = moment("2026-02-01T00:00:30Z");
  EXPECT_EQ(turn_of(state, next_time({{}, 10min}, state), now, {}), ScheduleTurn::runs);
  state.counted = now;
  EXPECT_EQ(turn_of(state, next_time({{}, 10min}, state), now, {}), ScheduleTurn::waits);
}

TEST(ScheduleTimes, AClockThatIsPutBackMakesNeitherStormNorSilence) {
  ScheduleState state;
  state.counted = moment("2027-01-01T00:00:00Z");
  EXPECT_FALSE(take_back(state, moment("2026-12-31T23:30:00Z"))) << "nothing runs twice";
  const Time now = moment("2026-01-01T00:00:00Z");
  EXPECT_TRUE(take_back(state, now));
  EXPECT_FALSE(take_back(state, now + 1s));
  EXPECT_EQ(next_time({{}, 10min}, state), now + 10min);
}

TEST(ScheduleTimes, OneThatComesWhileItRunsIsSkipped) {
  ScheduleState state;
  const Time begun = moment("2026-01-01T00:00:00Z"), due = begun + 1min;
  state.counted = begun;
  EXPECT_EQ(turn_of(state, due, due, begun), ScheduleTurn::waits) << "it has no number yet";
  state.counted = due;
  EXPECT_EQ(turn_of(state, due + 1min, due + 30s, begun), ScheduleTurn::waits);
  EXPECT_EQ(turn_of(state, due + 1min, due + 1min, begun), ScheduleTurn::skips);
  state.is_asked = true;
  EXPECT_EQ(turn_of(state, due + 1min, due + 30s, {}), ScheduleTurn::runs);
}

TEST(GitSources, AreUrlsAndNoPrograms) {
  for (const char* const url : {"https://github.com/a/b", "http://127.0.0.1:80/r.git",
                                "ssh://git@host/r", "git@host:a/b.git", "file:///srv/r"})
    EXPECT_TRUE(check_git_source({url, "main"})) << url;
  for (const char* const url : {"ext::sh -c x", "-u@h:x", "--upload-pack=x", "/srv/r", "a b", "x",
                                "a@ext::sh", "https://h/ r", "fd::17"})
    EXPECT_FALSE(check_git_source({url, ""})) << url;
  for (const char* const branch : {"-x", "a b", "refs/heads/x", "a:b", "a*"})
    EXPECT_FALSE(check_git_source({"https://h/r", branch})) << branch;
}

class SchedulesTest : public ServerOfCommandsTest {
 protected:
  Schedule schedule(const std::string& name, std::vector<std::string> words,
                    ScheduleTimes times = {{}, 1s}) const {
    Schedule made;
    made.name = name;
    made.times = std::move(times);
    made.request.words = std::move(words);
    made.request.folder = "/home/me";
    made.shown = made.request.words[0];
    made.token = own_token_name;
    made.right = Right::act;
    made.added = now_from_clock();
    return made;
  }
  void add(const Schedule& schedule) const {
    const Status added = book_.add(schedule, (home_.path() / "theirs").string());
    ASSERT_TRUE(added) << to_string(added.error());
    book_.wake();
  }
  ScheduleState state(const std::string& name) const { return *book_.state(name); }
  /// Waits for a run to end; its code.
  int64_t code_of_run(const std::string& name) const {
    EXPECT_TRUE(comes([&] { return state(name).code.has_value(); })) << state(name).why_not;
    return state(name).code.value_or(-1);
  }
  std::string printed(int64_t run) const { return Client(attach(run)).end().output; }

  const ScheduleBook book_{schedule_book(home_.path())};
};

TEST_F(SchedulesTest, OneIsThereAsItWasAddedOrNotAtAll) {
  Schedule one = schedule("one", {"hello", "--x"}, {"0 3 * * *", {}});
  one.environments = {"prod"};
  one.token = "ci";
  one.token_id = "0123";
  add(one);
  const Schedule kept = *book_.find("one");
  EXPECT_EQ(book_.request("one")->words, one.request.words);
  EXPECT_EQ(kept.times.cron, "0 3 * * *");
  EXPECT_EQ(kept.environments, one.environments);
  EXPECT_EQ(cat(kept.token, kept.token_id, to_string(kept.right)), "ci0123act");
  EXPECT_NE(book_.add(one, "/").error().message.find("there is a schedule `one` already"),
            std::string::npos);
  for (const std::string name : {"", ".", "..", "a/b", "-x", "ä"})
    EXPECT_EQ(book_.add(schedule(name, {"hello"}), "/").error().blame, Blame::user) << name;
  EXPECT_NE(book_.find("onee").error().message.find("did you mean `one`?"), std::string::npos);
  // Somebody was killed while he added one, and while he removed one.
  ASSERT_TRUE(make_directories(home_.path() / "serve/schedules/.new/contents"));
  ASSERT_TRUE(make_directories(home_.path() / "serve/schedules/.removed"));
  EXPECT_EQ(book_.names(), std::vector<std::string>{"one"});
  add(schedule("two", {"hello"}));
  ASSERT_TRUE(book_.remove("one"));
  EXPECT_EQ(book_.names(), std::vector<std::string>{"two"});
  EXPECT_FALSE(book_.remove("one"));
}

TEST_F(SchedulesTest, APathIsNoName) {
  add(schedule("a", {"hello"}));
  const Path other = home_.path() / "serve/other";
  ASSERT_TRUE(make_directories(other));
  ASSERT_TRUE(write_file(other / "about", "{}"));
  for (const char* const name : {"../other", "", ".", "/"}) {
    EXPECT_FALSE(book_.find(name)) << name;
    EXPECT_FALSE(book_.remove(name)) << name;
  }
  EXPECT_TRUE(file_exists(other / "about"));
  EXPECT_TRUE(book_.find("a"));
}

/// Whatever of its files a disk has lost, it is not forgotten, and can be removed.
TEST_F(SchedulesTest, OneThatIsDamagedIsStillListedAndCanBeRemoved) {
  const Path folder = home_.path() / "serve/schedules";
  for (const std::string_view text : {"", "[]", "{", "null"}) {
    for (const char* const file : {"about", "state"}) {
      Schedule one = schedule("one", {"hello"});
      one.environments = {"prod"};
      add(one);
      ASSERT_TRUE(write_file(folder / "one" / file, text));
      EXPECT_EQ(book_.names(), std::vector<std::string>{"one"});
      const Result<ScheduleView> view = schedule_view(book_, "one", {});
      ASSERT_TRUE(view) << to_string(view.error());
      EXPECT_EQ(view->schedule.name, "one");
      EXPECT_NE(view->damage.find("the schedule `one`"), std::string::npos) << view->damage;
      // Who may know of it depends on its environments, while they are known.
      EXPECT_EQ(view->schedule.environments.size(), std::string_view(file) == "about" ? 0U : 1U);
      EXPECT_FALSE(book_.add(one, "/")) << "it is removed first";
      EXPECT_TRUE(book_.remove("one"));
      EXPECT_TRUE(book_.names().empty());
    }
  }
  EXPECT_EQ(schedule_view(book_, "one", {}).error().blame, Blame::user);
}

/// The files of one may take long.
TEST_F(SchedulesTest, OneThatIsBeingAddedHoldsUpNoOther) {
  add(schedule("a", {"hello"}));
  const auto adding = LockFile::take(home_.path() / "serve/schedules/.adding");
  ASSERT_TRUE(adding && *adding);
  EXPECT_TRUE(book_.change("a", [](ScheduleState& state) { state.skipped = 3; }));
  EXPECT_EQ(state("a").skipped, 3);
  EXPECT_TRUE(book_.remove("a"));
}

TEST_F(SchedulesTest, ACommandRunsAtItsTimeWithItsFiles) {
  serve();
  Schedule where = schedule("where", {"where"});
  const std::string text = "text";
  ASSERT_TRUE(make_directories(home_.path() / "theirs/home/me"));
  ASSERT_TRUE(write_file(home_.path() / "theirs/home/me/given", text));
  where.request.files = {
      {"/home/me/given", FileEntry::Type::file, 0644, text.size(), sha256_hex(text)}};
  add(where);
  ASSERT_TRUE(remove_tree(home_.path() / "theirs"));
  EXPECT_EQ(code_of_run("where"), 0);
  EXPECT_TRUE(printed(state("where").run).starts_with("text /home/me"));
  const RunView run = runs().front();
  EXPECT_EQ(cat(run.command, " ", run.token), "where serve");
  const std::vector<AuditEntry> noted = *audit_log(home_.path()).all();
  ASSERT_FALSE(noted.empty());
  EXPECT_EQ(cat(noted[0].from, " ", noted[0].command, " ", noted[0].run), "schedule where where 1");
  ASSERT_TRUE(book_.remove("where"));
}

TEST_F(SchedulesTest, ATimeThatComesWhileItRunsIsSkippedAndItIsCancelledAsAnyRun) {
  serve();
  add(schedule("long", {"wait", flag()}));
  ASSERT_TRUE(comes([&] { return state("long").skipped > 0; }));
  EXPECT_EQ(runs().size(), 1u);
  EXPECT_NE(said().find("the schedule `long` still runs"), std::string::npos);
  ASSERT_TRUE(cancel_run(server_, state("long").run, {"1.0", {}}));
  EXPECT_EQ(code_of_run("long"), 130);
}

TEST_F(SchedulesTest, FourRunAtOnceAndTheOthersWait) {
  serve();
  for (int i = 0; i < 6; ++i)
    add(schedule(cat("s", i), {"wait", flag()}, {"0 0 1 1 *", {}}));
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(book_.change(cat("s", i), [](ScheduleState& one) { one.is_asked = true; }));
  book_.wake();
  ASSERT_TRUE(comes([&] { return runs().size() == 4; }));
  usleep(300'000);
  EXPECT_EQ(runs().size(), 4u);
  raise_flag();
  EXPECT_EQ(code_of_run("s5"), 5);
  EXPECT_TRUE(comes([&] { return runs().size() == 6; })) << "s5 may end before the sixth has begun";
}

TEST_F(SchedulesTest, AServerThatIsKilledLosesNoScheduleAndBeginsNothingTwice) {
  serve();
  add(schedule("long", {"wait", flag()}, {{}, 1s}));
  ASSERT_TRUE(comes([&] { return state("long").run == 1 && runs()[0].is_running; }));
  ASSERT_TRUE(book_.change("long", [](ScheduleState& one) { one.counted += 1h; }));
  kill_all();
  serve();
  ASSERT_TRUE(comes([&] { return runs().size() == 1 && status_of(runs()[0]) == "killed"; }));
  EXPECT_EQ(state("long").run, 1);
  // Times that were missed are one run.
  kill_all();
  ASSERT_TRUE(book_.change("long", [](ScheduleState& one) { one.counted -= 1'000h; }));
  raise_flag();
  serve();
  ASSERT_TRUE(comes([&] { return state("long").run == 2; }));
  EXPECT_EQ(code_of_run("long"), 5);
}

TEST_F(SchedulesTest, KilledAtAnyMomentItHasOneRunForEachTime) {
  const std::string count = (home_.path() / "count").string();
  const auto counts = [count](const CommandRequest&, const std::string&) {
    const Descriptor file(::open(count.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    return ::write(file.get(), "x", 1) == 1 ? 0 : 1;
  };
  add(schedule("once", {"acts"}, {"0 0 1 1 *", {}}));
  size_t done = 0;
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(book_.change("once", [](ScheduleState& one) { one.is_asked = true; }));
    server_.address.port = 0;  // a process that is killed may hold the last one for a moment
    serve({}, counts);
    usleep(static_cast<useconds_t>(i * 2'000));
    kill_all();
    server_.address.port = 0;
    serve({}, counts);
    ASSERT_TRUE(comes([&] { return !state("once").is_asked && !book_.is_running("once"); }));
    kill_all();
    const size_t now = read_file(count).value_or("").size();
    EXPECT_LE(now, done + 1) << "it ran twice for one time";
    done = now;
    EXPECT_EQ(book_.names().size(), 1u);
  }
  EXPECT_GT(done, 0u);
}

/// The host of the fixture knows no git: that is a fetch that fails.
TEST_F(SchedulesTest, AFetchThatFailsIsARunThatFailed) {
  serve();
  Schedule one = schedule("one", {"acts"}, {"0 0 1 1 *", {}});
  one.git.url = "https://nowhere.invalid/r";
  add(one);
  ASSERT_TRUE(book_.change("one", [](ScheduleState& asked) { asked.is_asked = true; }));
  book_.wake();
  EXPECT_EQ(code_of_run("one"), 1);
  EXPECT_EQ(Client(attach(state("one").run)).end().errors,
            "error: this program does not know git\n");
  EXPECT_EQ(state("one").done_commit, "");
}

TEST_F(SchedulesTest, WhoseTokenIsGoneOrMayLessIsRefused) {
  serve();
  Token token;
  token.grant = {"ci", Right::act, {}};
  token.created = now_from_clock();
  const TokenBook tokens = token_book(home_.path());
  const std::string text = *tokens.add(token);
  Schedule one = schedule("one", {"acts"}, {"0 0 1 1 *", {}});
  one.token = "ci";
  one.token_id = tokens.grant_of(text, "", now_from_clock())->token_id;
  add(one);
  const auto ask = [&] {
    EXPECT_TRUE(book_.change("one", [](ScheduleState& asked) { asked.is_asked = true; }));
    book_.wake();
    EXPECT_TRUE(comes([&] { return !state("one").is_asked; }));
  };
  ask();
  EXPECT_EQ(code_of_run("one"), 0);
  ASSERT_TRUE(tokens.remove("ci"));
  ask();
  EXPECT_EQ(state("one").why_not, "the token `ci`, which added it, was taken away");
  token.grant.right = Right::admin;
  ASSERT_TRUE(tokens.add(token));
  ask();
  EXPECT_EQ(state("one").why_not,
            "the token `ci`, which added it, was taken away, and another one has its name");
  EXPECT_EQ(state("one").run, 1);
  const std::vector<AuditEntry> noted = *audit_log(home_.path()).all();
  EXPECT_EQ(noted.back().refused, state("one").why_not);

  const Time now = now_from_clock();
  Schedule other = one;
  other.token = "short";
  token.grant = {"short", Right::plan, {}};
  token.expires = now + 1h;
  other.token_id = tokens.grant_of(*tokens.add(token), "", now)->token_id;
  EXPECT_EQ(grant_of_adder(other, home_.path(), now)->right, Right::plan);
  EXPECT_NE(grant_of_adder(other, home_.path(), now + 2h).error().message.find("expired at"),
            std::string::npos);
  other.name = "two";
  add(other);
  ASSERT_TRUE(book_.change("two", [](ScheduleState& asked) { asked.is_asked = true; }));
  book_.wake();
  ASSERT_TRUE(comes([&] { return !state("two").why_not.empty(); }));
  EXPECT_NE(state("two").why_not.find("needs the right `act`, and the token `short` has `plan`"),
            std::string::npos)
      << state("two").why_not;
}

}  // namespace
}  // namespace fettle
