#include "base/process.h"

#include <signal.h>

#include <thread>

#include <gtest/gtest.h>

#include "base/http.h"
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

TEST(Process, TooMuchOutputIsAnError) {
  Invocation command = shell("head -c 100000 /dev/zero");
  command.output_limit = 1000;
  EXPECT_EQ(to_string(run_process(command, {}).error()), "running `sh`: more than 1000 bytes");
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

}  // namespace
}  // namespace fettle
