#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

Invocation shell(std::string script) { return {.arguments = {"sh", "-c", std::move(script)}}; }

bool runs(const std::string& pid) {
  const auto status = read_file("/proc/" + pid + "/stat");
  return status && status->find(") Z ") == status->npos;
}

/// Waits for the end of a process, however long a busy machine takes for it.
bool ends(const std::string& pid) {
  for (int i = 0; i < 6000 && runs(pid); ++i)
    std::this_thread::sleep_for(10ms);
  return !runs(pid);
}

TEST(Process, OutputErrorsAndCodeAreKeptApart) {
  const auto done = run_process(shell("echo out; echo err >&2; exit 7"), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->code, 7);
}

TEST(Process, ASignalIsTold) {
  const auto done = run_process(shell("kill -9 $$"), {});
  EXPECT_EQ(done->code, 137);
  EXPECT_EQ(done->signal, 9);
}

TEST(Process, InputOfAnySizeGoesInAndComesOut) {
  Invocation command = {.arguments = {"cat"}};
  command.input = std::string(3'000'000, 'x');
  EXPECT_EQ(run_process(command, {})->output, command.input);
}

TEST(Process, AChildThatDoesNotReadIsNoError) {
  Invocation command = {.arguments = {"true"}};
  command.input = std::string(3'000'000, 'x');
  EXPECT_EQ(run_process(command, {})->code, 0);
}

TEST(Process, WhatCannotBeStartedIsAnError) {
  EXPECT_EQ(to_string(run_process({.arguments = {"no-such-program"}}, {}).error()),
            "the program `no-such-program` is not found");
  Invocation nowhere = shell("true");
  nowhere.directory = "/nowhere";
  EXPECT_NE(to_string(run_process(nowhere, {}).error()).find("no such file"), std::string::npos);
  Invocation unprepared = shell("true");
  unprepared.prepare = [] { return EPERM; };
  EXPECT_NE(to_string(run_process(unprepared, {}).error()).find("not permitted"),
            std::string::npos);
}

TEST(Process, VariablesAndFolderAreTheChilds) {
  Invocation command = shell("echo $A; pwd; env | wc -l");
  command.environment = {{"A", "b c"}};
  command.directory = "/usr";
  command.clean_environment = true;
  EXPECT_TRUE(run_process(command, {})->output.starts_with("b c\n/usr\n"));
}

TEST(Process, TheTimeLimitEndsTheWholeGroup) {
  Invocation command = shell("sleep 100 & echo $!; wait");
  std::string pid;
  command.on_output = [&](std::string_view bytes) -> Status {
    pid += trim(bytes);
    return {};
  };
  command.time_limit = 200ms;
  EXPECT_EQ(to_string(run_process(command, {}).error()),
            "running `sh`: `sh` did not end within 200ms");
  EXPECT_TRUE(ends(pid));
}

TEST(Process, AChildThatIgnoresTermIsKilled) {
  Invocation command = shell("trap '' TERM; echo $$; sleep 1000");
  std::string pid;
  command.on_output = [&](std::string_view bytes) -> Status {
    pid += trim(bytes);
    return {};
  };
  command.time_limit = 300ms;
  command.grace = 100ms;
  EXPECT_FALSE(run_process(command, {}));
  EXPECT_TRUE(ends(pid));
}

TEST(Process, TheStopTokenEndsIt) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const auto done = run_process(shell("sleep 100"), stop.get_token());
  ASSERT_FALSE(done);
  EXPECT_TRUE(is_cancelled(done.error()));
}

TEST(Process, AGrandchildThatHoldsThePipesDoesNotHoldUs) {
  const auto done = run_process(shell("sleep 1000 & echo $!"), {});
  ASSERT_TRUE(done);
  const std::string pid(trim(done->output));
  EXPECT_TRUE(runs(pid));
  ASSERT_EQ(kill(std::stoi(pid), SIGKILL), 0);
}

TEST(Process, AGrandchildThatGoesOnWritingDoesNotHoldUs) {
  const auto done = run_process(shell("yes & echo $! >&2"), {});
  ASSERT_TRUE(done) << to_string(done.error());
  const std::string pid(trim(done->errors));
  EXPECT_TRUE(!pid.empty());
  kill(std::stoi(pid), SIGKILL);
}

TEST(Process, ASilentChildIsEnded) {
  Invocation command = shell("echo once; sleep 1000");
  command.silence_limit = 50ms;
  EXPECT_EQ(to_string(run_process(command, {}).error()),
            "running `sh`: `sh` printed nothing for 50ms");
  command = shell("for i in 1 2 3 4 5; do echo $i; sleep 0.01; done");
  command.silence_limit = 100s;
  EXPECT_TRUE(run_process(command, {}));
}

/// The hexadecimal mask of signals on a line of `/proc/self/status`, of a child.
uint64_t mask_of_child(const std::string& line) {
  const auto done = run_process({.arguments = {"cat", "/proc/self/status"}}, {});
  EXPECT_TRUE(done);
  const size_t at = done->output.find(line + ":");
  EXPECT_NE(at, std::string::npos);
  return std::stoull(done->output.substr(at + line.size() + 1), nullptr, 16);
}

TEST(Process, AChildBeginsWithNoSignalBlockedOrIgnored) {
  sigset_t mine, before;
  sigemptyset(&mine);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&mine, number);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  const auto ignored = signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(mask_of_child("SigBlk"), 0u);
  EXPECT_EQ(mask_of_child("SigIgn"), 0u);
  signal(SIGUSR1, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Process, AChildHasNoDescriptorOfOurs) {
  const auto folder = TemporaryDirectory::make();
  const int open_to_children =
      open(folder->path().c_str(), O_RDONLY);  // NOLINT: not closed on exec
  ASSERT_GE(open_to_children, 0);
  const auto done = run_process(shell("echo /proc/self/fd/*"), {});
  // The glob itself reads the folder by one more.
  EXPECT_EQ(done->output, "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n");
  close(open_to_children);
}

TEST(Process, ASessionOfItsOwnHasNoTerminal) {
  Invocation command = shell("ps -o sid= -p $$; echo $$");
  command.session = true;
  const auto done = run_process(command, {});
  const auto lines = split(trim(done->output), '\n');
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(trim(lines[0]), lines[1]);
}

TEST(Process, VariablesCanBeKeptBack) {
  ASSERT_EQ(setenv("FETTLE_TEST_VARIABLE", "x", 1), 0);
  Invocation command = shell("echo [$FETTLE_TEST_VARIABLE]");
  EXPECT_EQ(run_process(command, {})->output, "[x]\n");
  command.without = {"FETTLE_TEST_VARIABLE"};
  EXPECT_EQ(run_process(command, {})->output, "[]\n");
  unsetenv("FETTLE_TEST_VARIABLE");
}

TEST(Process, AStopEndsTheWholeGroupEvenWhenItDoesNotWantTo) {
  std::stop_source stop;
  std::string pids;
  Invocation command =
      shell("trap '' TERM; (trap '' TERM; echo $BASHPID; sleep 1000) & echo $$; wait");
  command.arguments[0] = "bash";
  command.on_output = [&](std::string_view bytes) -> Status {
    pids += bytes;
    if (std::ranges::count(pids, '\n') == 2)
      stop.request_stop();
    return {};
  };
  EXPECT_TRUE(is_cancelled(run_process(command, stop.get_token()).error()));
  for (const std::string_view pid : split(trim(pids), '\n'))
    EXPECT_TRUE(ends(std::string(pid))) << pid;
  EXPECT_TRUE(is_cancelled(run_process(shell("true"), stop.get_token()).error()));
}

TEST(Process, WhoLeavesAtOnceKillsItsChildren) {
  const auto folder = TemporaryDirectory::make();
  const std::string file = (folder->path() / "pids").string();
  Result<ProcessResult> done = world_error("not begun");
  std::jthread waits(
      [&] { done = run_process(shell(cat("sleep 1000 & echo $$ $! > ", file, "; wait")), {}); });
  std::string pids;
  while (!pids.ends_with('\n'))
    pids = read_file(file).value_or("");
  kill_children();
  waits.join();
  EXPECT_EQ(done->signal, SIGKILL);
  for (const std::string_view pid : split(trim(pids), ' '))
    EXPECT_TRUE(ends(std::string(pid))) << pid;
}

TEST(Process, ChildrenDoNotOutliveOneThatIsKilled) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make("fettle-process-");
  ASSERT_TRUE(folder);
  const std::string told = (folder->path() / "told").string();
  const pid_t killed = fork();
  if (killed == 0) {
    const std::string left = cat("sleep 60 & echo $! > ", told, ".left");
    static_cast<void>(run_process(shell(left), {}));
    const std::string script =
        cat("sleep 60 & echo $$ $! > ", told, ".new; mv ", told, ".new ", told, "; wait");
    static_cast<void>(run_process(shell(script), {}));
    _exit(0);
  }
  for (int i = 0; i < 6000 && !file_exists(told); ++i)
    std::this_thread::sleep_for(10ms);
  const std::string text = read_file(told).value_or("");
  const std::string left(trim(read_file(told + ".left").value_or("")));
  const std::vector<std::string_view> pids = split(trim(text), ' ');
  ASSERT_EQ(pids.size(), 2u);
  for (const std::string_view pid : pids)
    EXPECT_TRUE(runs(std::string(pid)));
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  for (const std::string_view pid : pids)
    EXPECT_TRUE(ends(std::string(pid)));
  EXPECT_TRUE(runs(left)) << "what a command that ended left running";
  kill(static_cast<pid_t>(std::stol(left)), SIGKILL);
}

TEST(Process, TooMuchOutputIsAnError) {
  Invocation command = shell("head -c 100000 /dev/zero");
  command.output_limit = 1000;
  EXPECT_EQ(to_string(run_process(command, {}).error()), "running `sh`: more than 1000 bytes");
}

TEST(Process, WhatADialogueWroteToItsErrorsOutlivesIt) {
  Result<Dialogue> dialogue = Dialogue::start(shell("echo last words >&2"), Dialogue::Errors::kept);
  ASSERT_TRUE(dialogue);
  EXPECT_EQ(dialogue->end(60s).code, 0);
  std::string words(100, ' ');
  const ssize_t count = read(dialogue->errors(), words.data(), words.size());
  ASSERT_GT(count, 0);
  EXPECT_EQ(words.substr(0, static_cast<size_t>(count)), "last words\n");
  EXPECT_EQ(dialogue->end(60s).code, 0);
}

TEST(Process, ADetachedOneHasASessionOfItsOwn) {
  const auto folder = TemporaryDirectory::make();
  const auto pid = start_detached(shell("ps -o sid= -p $$; echo $$"), folder->path() / "log");
  ASSERT_TRUE(pid);
  std::string log;
  for (int i = 0; i < 6000 && std::ranges::count(log, '\n') < 2; ++i) {
    std::this_thread::sleep_for(10ms);
    log = *read_file(folder->path() / "log");
  }
  EXPECT_NE(log.find(std::to_string(*pid)), std::string::npos);
}

TEST(Process, OnlyOwnProgramsAreStartedForSome) {
  why_only_own_programs() = "a reason";
  const auto refused = run_process(shell("true"), {});
  const auto talk = Dialogue::start(shell("true"));
  const auto detached = start_detached(shell("true"));
  Invocation own = shell("exit 3");
  own.is_own = true;
  const auto done = run_process(own, {});
  why_only_own_programs().clear();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::user);
  EXPECT_EQ(refused.error().message, "`sh` is not started: a reason");
  EXPECT_FALSE(talk);
  EXPECT_FALSE(detached);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->code, 3);
}

}  // namespace
}  // namespace fettle
