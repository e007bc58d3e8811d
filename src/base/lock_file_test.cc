#include "base/lock_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

class LockFileTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::make());
  Path path_ = folder_.path() / "lock";
};

TEST_F(LockFileTest, OnlyOneHasIt) {
  EXPECT_FALSE(*LockFile::is_taken(path_));
  std::optional<LockFile> first = *LockFile::take(path_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(*LockFile::is_taken(path_));
  EXPECT_FALSE(*LockFile::take(path_));
  first.reset();
  EXPECT_FALSE(*LockFile::is_taken(path_));
  EXPECT_TRUE(*LockFile::take(path_));
}

TEST_F(LockFileTest, ItEndsWithItsProcess) {
  std::array<int, 2> ready{}, go{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(go.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = LockFile::take(path_)->has_value() ? 'y' : 'n';
    const Result<std::optional<LockFile>> mine = LockFile::take(path_);
    byte = mine && *mine ? 'y' : 'n';
    static_cast<void>(write(ready[1], &byte, 1));
    static_cast<void>(read(go[0], &byte, 1));
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(*LockFile::take(path_));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(*LockFile::take(path_));
  for (const int end : {ready[0], ready[1], go[0], go[1]})
    close(end);
}

TEST_F(LockFileTest, OneThatWasRemovedLocksNobodyOut) {
  std::optional<LockFile> first = *LockFile::take(path_);
  std::move(*first).remove();
  EXPECT_FALSE(file_exists(path_));
  EXPECT_TRUE(*LockFile::take(path_));
}

TEST_F(LockFileTest, AFolderThatIsMissingIsAnError) {
  const auto taken = LockFile::take(folder_.path() / "no" / "lock");
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("cannot open"), std::string::npos);
}

TEST_F(LockFileTest, OneAtATimeHasIt) {
  std::atomic<int> inside = 0, most = 0, count = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 5; ++j) {
          const auto lock = LockFile::await(path_, 1h, {});
          ASSERT_TRUE(lock);
          most = std::max(most.load(), ++inside);
          ++count;
          --inside;
        }
      });
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(count, 40);
}

TEST_F(LockFileTest, WaitingHasALimitAndEndsWithAStop) {
  const auto held = LockFile::await(path_, 0s, {});
  ASSERT_TRUE(held);
  EXPECT_EQ(LockFile::await(path_, 1ms, {}).error().message,
            cat("another process holds the lock `", path_.string(), "`; waited for 1ms"));
  std::stop_source stop;
  int told = 0;
  const auto stopped = LockFile::await(path_, 1h, stop.get_token(), [&] {
    ++told;
    stop.request_stop();
  });
  EXPECT_TRUE(is_cancelled(stopped.error()));
  EXPECT_EQ(told, 1);
}

TEST_F(LockFileTest, AChildDoesNotKeepIt) {
  std::string pid;
  {
    const auto held = LockFile::await(path_, 0s, {});
    pid = trim(run_process({.arguments = {"sh", "-c", "sleep 1000 & echo $!"}}, {})->output);
  }
  EXPECT_TRUE(LockFile::await(path_, 0s, {}));
  kill(std::stoi(pid), SIGKILL);
}

TEST_F(LockFileTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink("elsewhere", path_);
  EXPECT_FALSE(LockFile::await(path_, 0s, {}));
  EXPECT_FALSE(file_exists(folder_.path() / "elsewhere"));
}

}  // namespace
}  // namespace fettle
