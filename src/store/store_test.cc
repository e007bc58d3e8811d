#include "store/edit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <semaphore>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "store/record_codec.h"
#include "store/reserve.h"
#include "store/sqlite.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/small_disk.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class StoreTest : public testing::Test, protected StoreWords {
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

  uintmax_t bytes_kept() const {
    const std::string file = folder_ + "/reserve";
    return std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0;
  }
  /// Fills the disk, and frees it: 0, or which step was wrong.
  int use_up_and_free() {
    keep_reserve(folder_);
    const uintmax_t at_first = bytes_kept();
    if (at_first == 0)
      return 1;
    const auto store = open_sqlite_store(folder_ + "/fettle.db");
    if (!store || !write(**store, {change({"e", "act", "a"}, record())}))
      return 2;
    auto acting = edit(**store);
    {
      std::ofstream filler(folder_ + "/filler");
      while (filler)
        filler << std::string(4'096, 'x') << std::flush;
    }
    int written = 0;
    while (acting->write(std::vector{change({"e", "act", std::to_string(written)}, record())}))
      ++written;
    acting.reset();
    // A later process keeps nothing more, and there is no room for anything before the first
    // record.
    keep_reserve(folder_);
    if (bytes_kept() != at_first || (*store)->begin_edit("e", this_process("a test", Time(1s))))
      return 3;
    {
      const ReserveUse reserve(folder_);
      if (bytes_kept() != 0 || !write(**store, {change({"e", "act", "more"}, record())}))
        return 4;
      std::filesystem::remove(folder_ + "/filler");
    }
    // It exists again, for the next time.
    return bytes_kept() * 2 > at_first ? 0 : 5;
  }

  std::string folder_;
};

TEST_F(StoreTest, WhatBecomesOfALeftoverIsReadBackBesideTheMandate) {
  for (const Mandate mandate : {Mandate::act, Mandate::report, Mandate::none})
    for (const Leftover leftover : {Leftover::keep, Leftover::forget, Leftover::remove}) {
      Record written = record();
      written.applied.edit().mandate = mandate;
      written.applied.edit().leftover = leftover;
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
  EXPECT_EQ(back->attempt->verb, Verb::replace);
  EXPECT_EQ(back->by_hand, ByHand::stopped);
  EXPECT_TRUE(back->is_adopted);
  EXPECT_TRUE(back->was_found);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)));
}

TEST_F(StoreTest, AControllerIsToldFromACommandAlsoOneOfAnEarlierFettle) {
  auto store = open();
  const auto begin = [&](const char* what, Holder::Role role) {
    auto begun = store->begin_edit("e", this_process(what, Time(1s), role));
    return std::get<std::unique_ptr<Edit>>(std::move(*begun));
  };
  {
    const auto mine = begin("fettle controller of ours", Holder::Role::command);
    EXPECT_EQ((*store->holder("e"))->role, Holder::Role::command);
  }
  const auto mine = begin("anything", Holder::Role::controller);
  EXPECT_EQ((*store->holder("e"))->role, Holder::Role::controller);
  for (const auto& [what, role] : {std::pair("fettle controller", Holder::Role::controller),
                                   std::pair("fettle apply -f a", Holder::Role::command)}) {
    {
      auto database = *Sqlite::open(folder_ + "/fettle.db");
      ASSERT_TRUE(
          database->execute(cat("ALTER TABLE leases DROP COLUMN role; UPDATE leases SET what='",
                                what, "'; PRAGMA user_version=4")
                                .c_str()));
    }
    EXPECT_EQ((*open()->holder("e"))->role, role) << what;
  }
}

TEST_F(StoreTest, WhoWritesMuchGivesWayToWhoWaits) {
  auto store = open();
  std::atomic<bool> ends{false};
  std::jthread busy([&] {
    auto database = *Sqlite::open(folder_ + "/fettle.db");
    int64_t row = 0;
    ASSERT_TRUE(in_pieces(*database, std::nullopt, [&]() -> Result<bool> {
      TRY(TRY(database->query("INSERT INTO notes VALUES('busy',?,x'00')"))
              .bind(std::to_string(row++))
              .run());
      return !ends;
    }));
  });
  // Each of these waits for a piece at most, and the busy one goes on in between.
  const auto acting = edit(*store);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(acting->put_note("x", i));
  ends = true;
}

TEST_F(StoreTest, ATornLastPageOfTheLogCostsNothingThatWasCommittedBefore) {
  const Key first{"e", "act", "first"}, second{"e", "act", "second"};
  auto store = open();
  const auto acting = edit(*store);
  ASSERT_TRUE(acting->write(std::vector{change(first, record())}));
  const auto whole = std::filesystem::file_size(folder_ + "/fettle.db-wal");
  ASSERT_TRUE(acting->write(std::vector{change(second, record())}));
  // The state after a crash of the machine: the files as they are, the last page cut in the middle.
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
      ASSERT_TRUE(write(**store_of_then, {change(second, record())}));
      EXPECT_TRUE((*store_of_then)->known("e")->contains(second));
    }
}

TEST_F(StoreTest, AFullDiskIsACleanErrorAndNothingRecordedIsLost) {
  const auto work = [this] {
    std::ofstream(folder_ + "/filler") << std::string(200'000, 'x');
    auto store = open_sqlite_store(folder_ + "/fettle.db");
    if (!store)
      return 1;
    auto acting = edit(**store);
    int written = 0;
    Status last;
    while (last && written < 100'000) {
      last = acting->write(std::vector{change({"e", "act", std::to_string(written)}, record())});
      written += last ? 1 : 0;
    }
    acting.reset();
    if (last || to_string(last.error()).find("; what was recorded is safe") == std::string::npos)
      return 2;
    // Everything that was acknowledged exists, for this process and for the next.
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
    return write(**store, {change({"e", "act", "more"}, record())}) ? 0 : 6;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 600, work), 0);
}

TEST_F(StoreTest, AReserveIsKeptForWhoeverFreesSpace) {
  for (const int kilobytes : {24'000, 12'000, 2'000})
    EXPECT_EQ(on_a_small_disk(folder_, kilobytes,
                              [this] {
                                const int first = use_up_and_free();
                                return first != 0 ? first : 10 * use_up_and_free();
                              }),
              0)
        << kilobytes;
}

// Commands may write as much as the store's log already takes, however small the reserve is.
TEST_F(StoreTest, TheLogIsWrittenOverByWhoeverFreesSpace) {
  const auto work = [this] {
    keep_reserve(folder_);
    const auto store = open_sqlite_store(folder_ + "/fettle.db");
    auto acting = edit(**store);
    int written = 0;
    const auto write_one = [&] {
      Record one = record();
      one.run = static_cast<uint64_t>(written);  // the same bytes again would not be written
      return acting->write(std::vector{change({"e", "act", std::to_string(written++ % 20)}, one)});
    };
    while (std::filesystem::file_size(folder_ + "/fettle.db-wal") < 2 * bytes_kept())
      if (!write_one())
        return 1;
    std::ofstream filler(folder_ + "/filler");
    while (filler)
      filler << std::string(4'096, 'x') << std::flush;
    const ReserveUse reserve(folder_);
    for (int left = written; left > 0; --left)
      if (!write_one())
        return 2;
    return 0;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 3'000, work), 0);
}

TEST_F(StoreTest, AReserveIsAShareOfWhatIsFree) {
  EXPECT_EQ(reserve_of(500'000), 0u);
  EXPECT_EQ(reserve_of(4'000'000), 1'000'000u);
  EXPECT_EQ(reserve_of(uint64_t{1} << 40), uint64_t{4} << 20);
}

TEST_F(StoreTest, AReserveGivesWayWhereItMayBeNeededAndGrowsWithTheRoom) {
  const auto work = [this] {
    const std::string filler = folder_ + "/filler";
    std::ofstream(filler) << std::string(20'000'000, 'x');
    keep_reserve(folder_);
    const uintmax_t small = bytes_kept();
    if (small < 500'000 || small > 1'500'000)
      return 1;
    {
      const ReserveUse reserve(folder_);
      if (bytes_kept() != 0)
        return 2;
    }
    std::filesystem::remove(filler);
    keep_reserve(folder_);
    if (bytes_kept() != uintmax_t{4} << 20)
      return 3;
    const ReserveUse reserve(folder_);
    return bytes_kept() == 0 ? 4 : 0;  // there is enough room
  };
  EXPECT_EQ(on_a_small_disk(folder_, 24'000, work), 0);
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

TEST(StoreFiles, AStoreWithoutItsTablesIsAnErrorAndNoNewOne) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  {
    const auto store = open_sqlite_store(path);
    ASSERT_TRUE(store) << to_string(store.error());
    ASSERT_TRUE((*store)->wish("e", [](Wish& wish) {
      return wish.ensure_environment({"e", "u", Time(), Value::dict({})});
    }));
  }
  EXPECT_EQ((*open_sqlite_store(path))->environments()->size(), 1u);
  // The log holds all of a small store.
  std::filesystem::resize_file(path + "-wal", 0);
  for (const bool is_cut : {false, true}) {
    if (is_cut)
      std::filesystem::resize_file(path, 0);
    const auto store = open_sqlite_store(path);
    ASSERT_FALSE(store);
    EXPECT_NE(to_string(store.error()).find("is empty although it was used"), std::string::npos)
        << to_string(store.error());
  }
  std::filesystem::remove(path);
  std::ofstream{path};
  EXPECT_FALSE(open_sqlite_store(path)) << "an empty file in its place";
  std::filesystem::remove(path);
  EXPECT_TRUE(open_sqlite_store(path)) << "somebody removed it on purpose";
}

TEST(StoreFiles, ManyProcessesMayMakeOneAnewBesideItsKey) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(open_sqlite_store(path));
    for (const char* const end : {"", "-wal", "-shm"})
      std::filesystem::remove(path + end);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i)
      if (children.push_back(fork_until_end()); children.back() == 0)
        _exit(open_sqlite_store(path) ? 0 : 1);
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << round;
    }
  }
}

TEST(StoreFiles, AnErrorAboutADamagedOneNamesItsPath) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  {
    const auto store = open_sqlite_store(path);
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->wish("e", [](Wish& wish) {
      return wish.ensure_environment({"e", "u", Time(), Value::dict({})});
    }));
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr), 0);
  sqlite3_close(handle);
  // All pages but the first.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4'096);
  file << std::string(std::filesystem::file_size(path) - 4'096, 'x');
  file.close();
  const auto store = open_sqlite_store(path);
  const auto found =
      store ? (*store)->environments() : Result<std::vector<Environment>>(store.error());
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(path), std::string::npos) << to_string(found.error());
  EXPECT_EQ(found.error().blame, Blame::world);
}

}  // namespace
}  // namespace fettle
