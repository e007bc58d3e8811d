#include "base/watcher.h"

#include <gtest/gtest.h>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <thread>

#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

/// A watcher at work, and what it has told.
class WatcherTest : public testing::Test {
 protected:
  ~WatcherTest() override { thread_.request_stop(); }

  std::string at(const std::string& name) const { return folder_->path() / name; }

  /// Waits until it was told once more of it.
  void await(const std::string& what) {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [&] { return told_.contains(what); });
    told_.erase(told_.find(what));
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  Watcher watcher_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::multiset<std::string> told_;
  std::jthread thread_{[this](std::stop_token stop) {
    watcher_.run(
        [this](const std::string& what) {
          const std::lock_guard lock(mutex_);
          told_.insert(what);
          heard_.notify_all();
        },
        std::move(stop));
  }};
};

TEST_F(WatcherTest, AFileThatComesChangesAndGoes) {
  watcher_.add_path(at("a"));
  await(at("a"));  // it may have changed before
  ASSERT_TRUE(write_file(at("a"), "x"));
  await(at("a"));
  ASSERT_TRUE(write_file(at("other"), "x"));
  std::filesystem::remove(at("a"));
  await(at("a"));
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(told_.contains(at("other")));
}

TEST_F(WatcherTest, AFileInFoldersThatAreNotThereYet) {
  const std::string path = at("one/two/three");
  watcher_.add_path(path + "/");
  await(path);
  for (const char* folder : {"one", "one/two"}) {
    std::filesystem::create_directory(at(folder));
    await(path);
  }
  ASSERT_TRUE(write_file(path, "x"));
  await(path);
  std::filesystem::remove_all(at("one"));
  await(path);
  std::filesystem::create_directories(at("one/two"));
  await(path);
}

TEST_F(WatcherTest, AProcessThatEnds) {
  std::stop_source ends;
  std::jthread child([&] {
    const Result<ProcessResult> finished = run_process(
        {.arguments = {"/bin/sh", "-c", cat("echo $$ > ", at("pid"), "; exec sleep 1000")}},
        ends.get_token());
    EXPECT_FALSE(finished.has_value());
  });
  watcher_.add_path(at("pid"));
  std::string number;
  while (number.empty()) {
    await(at("pid"));
    number = std::string(trim(read_file(at("pid")).value_or("")));
  }
  watcher_.add_process(std::stoi(number));
  await(number);
  ends.request_stop();
  await(number);
}

TEST_F(WatcherTest, AProcessThatIsNotThereIsToldOfOnce) {
  watcher_.add_process(0x3fffffff);
  await(std::to_string(0x3fffffff));
  watcher_.add_process(-1);
  watcher_.add_path("relative");
  watcher_.add_path(at("b"));
  await(at("b"));
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(told_.empty());
}

TEST_F(WatcherTest, WritesToAFileThatOthersKeepOpenAreNoticedUntilTheEnd) {
  std::stop_source stop;
  Poller poller(stop.get_token());
  std::optional<WriteNotices> notices = WriteNotices::open(at("log"));
  ASSERT_TRUE(notices);
  std::ofstream file(at("log")), other(at("other"));
  EXPECT_TRUE(*notices->wait(poller, for_ever)) << "it has come";
  other << "x" << std::flush;
  EXPECT_FALSE(*notices->wait(poller, std::chrono::milliseconds(20))) << "nothing since";
  file << "x" << std::flush;
  other << "x" << std::flush;
  EXPECT_TRUE(*notices->wait(poller, for_ever));
  EXPECT_FALSE(*notices->wait(poller, Duration::zero()));
  stop.request_stop();
  EXPECT_TRUE(is_cancelled(notices->wait(poller, for_ever).error()));
  EXPECT_FALSE(WriteNotices::open("/no/such/folder/log"));
}

}  // namespace
}  // namespace fettle
