#include "store/store.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/text.h"
#include "store/blobs.h"
#include "store/record_codec.h"
#include "store/sqlite_store.h"

namespace fettle {
namespace {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-store-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Store> open() {
    auto store = open_sqlite_store(folder_ + "/fettle.db");
    EXPECT_TRUE(store.has_value()) << to_string(store.error());
    return std::move(*store);
  }

  static Record record() {
    Record record;
    Resource resource;
    resource.key = {"e", "service", "web"};
    resource.attributes =
        Value::dict({{"image", "a:1"},
                     {"env", Value::secret("pw")},
                     {"id", Value::deferred({Part(Output{"image", "a:1", "id"})})}});
    resource.needs.push_back(
        {{{"e", "network", "n"}}, true, When::finished, Unmet::skip, Bond::refresh});
    resource.driver = "engine";
    resource.pace = {Wait::random, 7ms, 9s};
    resource.deadlines.settle = 2min;
    record.applied = resource;
    record.attempt = Attempt{resource, Time(5s), true, "exit code 1", 3};
    record.outputs = Value::dict({{"ip_address", "10.0.0.2"}});
    record.remote_id = "abc";
    record.incarnation = 4;
    record.changes = 6;
    record.sequence = 99;
    record.finished = Time(77s);
    record.acted_on = {{{"e", "image", "a:1"}, 1, 2, {3, 4}}};
    record.wanted_by["p"] = {5, 6};
    return record;
  }

  static Change change(const Key& key, const Record& record) {
    return {Change::record, key, std::make_shared<Record>(record), {}};
  }

  std::string folder_;
};

TEST_F(StoreTest, WhatBecomesOfALeftoverIsReadBackBesideTheMandate) {
  for (const Mandate mandate : {Mandate::act, Mandate::report, Mandate::none})
    for (const Leftover leftover : {Leftover::keep, Leftover::forget, Leftover::remove}) {
      Record written = record();
      written.applied->mandate = mandate;
      written.applied->leftover = leftover;
      const Result<Record> back = decode(encode(written));
      ASSERT_TRUE(back);
      EXPECT_EQ(back->applied->mandate, mandate);
      EXPECT_EQ(back->applied->leftover, leftover);
    }
}

TEST_F(StoreTest, RecordsAreReadBackWhole) {
  const std::string bytes = encode(record());
  const Result<Record> back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(back->applied->attributes, record().applied->attributes);
  EXPECT_EQ(back->applied->needs[0].bond, Bond::refresh);
  EXPECT_EQ(back->applied->leftover, std::nullopt);
  EXPECT_EQ(back->acted_on, record().acted_on);
  EXPECT_EQ(back->attempt->error, "exit code 1");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)));
}

TEST_F(StoreTest, WhatIsWrittenIsThereAfterOpeningAgain) {
  const Key key{"e", "service", "web"};
  Event event;
  event.environment = "e";
  event.key = key;
  event.text = "never done";
  event.verb = Verb::create;
  {
    auto store = open();
    ASSERT_TRUE(
        store->write(std::vector{change(key, record()), Change{Change::event, {}, {}, event}}));
    ASSERT_TRUE(store->put_note("e", "plan", Value::list({1, 2})));
    ASSERT_TRUE(
        store->put_environment({"e", "0123", Time(3s), Value::dict({{"production", true}})}));
  }
  auto store = open();
  EXPECT_EQ(encode(*store->known("e")->at(key)), encode(record()));
  EXPECT_TRUE(store->known("other")->empty());
  EXPECT_EQ(store->events("e", 0, 10)->at(0).text, "never done");
  EXPECT_EQ(store->events_of(key, 10)->at(0).verb, Verb::create);
  EXPECT_EQ(**store->note("e", "plan"), Value::list({1, 2}));
  EXPECT_EQ((*store->environment("e"))->uuid, "0123");
  ASSERT_TRUE(store->write(std::vector{Change{Change::forget, key, {}, {}}}));
  EXPECT_TRUE(store->known("e")->empty());
  ASSERT_TRUE(store->remove_environment("e"));
  EXPECT_FALSE(store->environment("e")->has_value());
  EXPECT_EQ(store->events("", 0, 10)->size(), 1u);
}

TEST_F(StoreTest, ALeaseIsHeldUntilItsProcessIsGone) {
  auto store = open();
  const Holder me = this_process("a test", Time(1s));
  EXPECT_FALSE(store->acquire("e", me)->has_value());
  EXPECT_FALSE(store->acquire("e", me)->has_value());  // once more by the same
  const pid_t child = fork();
  if (child == 0) {
    auto other = open_sqlite_store(folder_ + "/fettle.db");
    const auto held = (*other)->acquire("e", this_process("another", Time(2s)));
    _exit(held && *held && (**held).what == "a test" ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(store->release("e", me));

  const pid_t dying = fork();
  if (dying == 0) {
    auto other = open_sqlite_store(folder_ + "/fettle.db");
    _exit((*other)->acquire("e", this_process("one that dies", Time(2s))) ? 0 : 1);
  }
  waitpid(dying, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(store->acquire("e", me)->has_value());
}

TEST_F(StoreTest, ManyProcessesMayMakeOneStoreAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = cat(folder_, "/", round, ".db");
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(fork());
      if (children.back() != 0)
        continue;
      close(gate[1]);
      char none = 0;
      (void)!read(gate[0], &none, 1);  // returns when the gate is closed
      auto store = open_sqlite_store(path);
      const Key key{"e", "act", std::to_string(i)};
      _exit(store && (*store)->write(std::vector{change(key, record())}) ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]);
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << round;
    }
    EXPECT_EQ((*open_sqlite_store(path))->known("e")->size(), children.size());
  }
}

TEST_F(StoreTest, NothingWrittenIsLostWhenTheProcessIsKilled) {
  open();
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = open_sqlite_store(folder_ + "/fettle.db");
      for (int i = 0;; ++i) {
        const Key key{"e", "act", std::to_string(i)};
        if (!(*store)->write(std::vector{change(key, record())}) ||
            write(pipe_ends[1], &i, sizeof i) != sizeof i)
          _exit(1);
      }
    }
    close(pipe_ends[1]);
    int last = -1;
    const int stop_at = 20 + round * 13;
    while (read(pipe_ends[0], &last, sizeof last) == sizeof last && last < stop_at) {
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipe_ends[0]);
    auto store = open();
    const auto known = store->known("e");
    ASSERT_TRUE(known);
    for (int i = 0; i <= last; ++i)
      ASSERT_TRUE(known->contains({"e", "act", std::to_string(i)})) << i;
  }
}

TEST_F(StoreTest, ATornLastPageOfTheLogCostsNothingThatWasCommittedBefore) {
  const Key first{"e", "act", "first"}, second{"e", "act", "second"};
  auto store = open();
  ASSERT_TRUE(store->write(std::vector{change(first, record())}));
  const auto whole = std::filesystem::file_size(folder_ + "/fettle.db-wal");
  ASSERT_TRUE(store->write(std::vector{change(second, record())}));
  // What a crashed machine would find: the files as they are, the last page cut in the middle.
  const auto size = std::filesystem::file_size(folder_ + "/fettle.db-wal");
  ASSERT_GT(size, whole);
  for (uintmax_t cut = whole; cut < size; cut += 509)
    for (const bool filled : {false, true}) {
      const std::string torn = folder_ + "/torn";
      std::filesystem::remove_all(torn);
      std::filesystem::create_directory(torn);
      std::filesystem::copy(folder_ + "/fettle.db", torn + "/fettle.db");
      std::filesystem::copy(folder_ + "/fettle.db-wal", torn + "/fettle.db-wal");
      std::filesystem::resize_file(torn + "/fettle.db-wal", cut);
      if (filled)  // the file has its length, and the last blocks were never written
        std::filesystem::resize_file(torn + "/fettle.db-wal", size);
      auto store_of_then = open_sqlite_store(torn + "/fettle.db");
      ASSERT_TRUE(store_of_then) << to_string(store_of_then.error());
      const auto known = (*store_of_then)->known("e");
      ASSERT_TRUE(known) << to_string(known.error());
      EXPECT_TRUE(known->contains(first)) << cut;
      EXPECT_FALSE(known->contains(second)) << cut;
      ASSERT_TRUE((*store_of_then)->write(std::vector{change(second, record())}));
      EXPECT_TRUE((*store_of_then)->known("e")->contains(second));
    }
}

/// Runs `work` in a child that sees a file system of `kilobytes` at `folder`; its exit code.
int on_a_small_disk(const std::string& folder, int kilobytes, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    // Root may do it as it is; others may in a name space of users of their own.
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      _exit(90);
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    const std::string options = "size=" + std::to_string(kilobytes) + "k";
    if (mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) != 0)
      _exit(91);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST_F(StoreTest, AFullDiskIsACleanErrorAndNothingRecordedIsLost) {
  const auto work = [this] {
    std::ofstream(folder_ + "/filler") << std::string(200'000, 'x');
    auto store = open_sqlite_store(folder_ + "/fettle.db");
    if (!store)
      return 1;
    int written = 0;
    Status last;
    while (last && written < 100'000) {
      last = (*store)->write(std::vector{change({"e", "act", std::to_string(written)}, record())});
      written += last ? 1 : 0;
    }
    if (last ||
        to_string(last.error()).find("the disk is full; nothing that was recorded is lost") ==
            std::string::npos)
      return 2;
    // Everything that was acknowledged is there, for this process and for the next.
    for (int round = 0; round < 2; ++round) {
      const auto known = (*store)->known("e");
      if (!known || known->size() != static_cast<size_t>(written))
        return 3 + round;
      store->reset();
      std::filesystem::remove(folder_ + "/filler");
      store = open_sqlite_store(folder_ + "/fettle.db");
      if (!store)
        return 5;
    }
    // With room again, the same write succeeds.
    return (*store)->write(std::vector{change({"e", "act", "more"}, record())}) ? 0 : 6;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 600, work), 0);
}

TEST_F(StoreTest, ABlobThatDoesNotFitLeavesNothingBehind) {
  const auto work = [this] {
    FolderBlobs blobs(folder_ + "/blobs");
    const Result<std::string> digest = blobs.put(std::string(1'000'000, 'x'));
    if (digest || to_string(digest.error()).find("the disk is full") == std::string::npos)
      return 1;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      if (entry.is_regular_file())
        return 2;
    return blobs.put("small") ? 0 : 3;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 300, work), 0);
}

TEST_F(StoreTest, ADamagedOrNewerFileIsAnErrorThatSaysSo) {
  std::ofstream(folder_ + "/fettle.db") << std::string(8'192, 'x');
  const auto damaged = open_sqlite_store(folder_ + "/fettle.db");
  ASSERT_FALSE(damaged);
  EXPECT_NE(to_string(damaged.error()).find("file is not a database"), std::string::npos);
  const auto nowhere = open_sqlite_store(folder_ + "/no/such/fettle.db");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().blame, Blame::world);
}

TEST_F(StoreTest, BlobsAreKeptByTheirDigest) {
  FolderBlobs blobs(folder_ + "/blobs");
  const std::string digest = *blobs.put("abc");
  EXPECT_EQ(digest, sha256_hex("abc"));
  EXPECT_EQ(*blobs.put("abc"), digest);
  std::ifstream file(*blobs.path(digest));
  std::string content;
  std::getline(file, content);
  EXPECT_EQ(content, "abc");
  EXPECT_FALSE(blobs.path(sha256_hex("other")));
  EXPECT_FALSE(blobs.path("../../etc/passwd"));
  const std::string other = *blobs.put("other");
  EXPECT_EQ(*blobs.collect({digest}, 1h), 0u);
  EXPECT_EQ(*blobs.collect({digest}, 0s), 1u);
  EXPECT_FALSE(blobs.path(other));
  EXPECT_TRUE(blobs.path(digest));
}

TEST_F(StoreTest, ABlobThatSomebodyJustAskedForIsNotCollected) {
  FolderBlobs blobs(folder_ + "/blobs");
  const std::string asked = *blobs.put("asked"), old = *blobs.put("old");
  for (const std::string& digest : {asked, old})
    std::filesystem::last_write_time(*blobs.path(digest),
                                     std::filesystem::file_time_type::clock::now() - 2h);
  EXPECT_TRUE(blobs.path(asked));
  EXPECT_EQ(*blobs.collect({}, 1h), 1u);
  EXPECT_TRUE(blobs.path(asked));
  EXPECT_FALSE(blobs.path(old));
}

}  // namespace
}  // namespace fettle
