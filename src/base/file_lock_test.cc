#include "base/file_lock.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

TEST(FileLock, OneAtATimeHasIt) {
  const auto folder = TemporaryDirectory::make();
  const Path file = folder->path() / "lock";
  std::atomic<int> inside = 0, most = 0, count = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 5; ++j) {
          const auto lock = FileLock::take(file, 1h, {});
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

TEST(FileLock, WaitingHasALimitAndEndsWithAStop) {
  const auto folder = TemporaryDirectory::make();
  const Path file = folder->path() / "lock";
  const auto held = FileLock::take(file, 0s, {});
  ASSERT_TRUE(held);
  EXPECT_EQ(FileLock::take(file, 1ms, {}).error().message,
            cat("another process holds the lock `", file.string(), "`; waited for 1ms"));
  std::stop_source stop;
  int told = 0;
  const auto stopped = FileLock::take(file, 1h, stop.get_token(), [&] {
    ++told;
    stop.request_stop();
  });
  EXPECT_TRUE(is_cancelled(stopped.error()));
  EXPECT_EQ(told, 1);
}

TEST(FileLock, AChildDoesNotKeepIt) {
  const auto folder = TemporaryDirectory::make();
  const Path file = folder->path() / "lock";
  std::string pid;
  {
    const auto held = FileLock::take(file, 0s, {});
    pid = trim(run_process({.arguments = {"sh", "-c", "sleep 1000 & echo $!"}}, {})->output);
  }
  EXPECT_TRUE(FileLock::take(file, 0s, {}));
  kill(std::stoi(pid), SIGKILL);
}

TEST(FileLock, ALinkIsNotFollowed) {
  const auto folder = TemporaryDirectory::make();
  std::filesystem::create_symlink("elsewhere", folder->path() / "lock");
  EXPECT_FALSE(FileLock::take(folder->path() / "lock", 0s, {}));
  EXPECT_FALSE(file_exists(folder->path() / "elsewhere"));
}

}  // namespace
}  // namespace fettle
