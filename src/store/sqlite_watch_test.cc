/// When those who watch a store in a file are told, by a writer that loses the processor at the
/// worst moment.

#include <sqlite3.h>

#include <semaphore>
#include <thread>

#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

/// Makes a thread wait between the writing of a commit to the log and the moment when others can
/// read it, which is behind the last write to the log.
class SlowCommits {
 public:
  SlowCommits() {
    system_ = sqlite3_vfs_find(nullptr);
    own_ = *system_;
    own_.zName = "slow";
    own_.xOpen = open;
    EXPECT_EQ(sqlite3_vfs_register(&own_, /*makeDflt=*/1), SQLITE_OK);
  }
  ~SlowCommits() {
    sqlite3_vfs_unregister(&own_);
    sqlite3_vfs_register(system_, /*makeDflt=*/1);
  }
  SlowCommits(const SlowCommits&) = delete;
  SlowCommits& operator=(const SlowCommits&) = delete;

  static inline thread_local bool is_slow = false;

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* given) {
    const int code = system_->xOpen(system_, name, file, flags, given);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
      static const sqlite3_io_methods* const real = file->pMethods;
      static const sqlite3_io_methods slowed = [] {
        sqlite3_io_methods methods = *real;
        methods.xWrite = [](sqlite3_file* log, const void* bytes, int size, sqlite3_int64 at) {
          const int written = real->xWrite(log, bytes, size, at);
          if (is_slow)
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
          return written;
        };
        return methods;
      }();
      file->pMethods = &slowed;
    }
    return code;
  }

  static inline sqlite3_vfs* system_ = nullptr;
  sqlite3_vfs own_{};
};

class SqliteWatchTest : public testing::Test {
 protected:
  StorePlace place_{StoreKind::file};
};

TEST_F(SqliteWatchTest, ACommitIsToldWhenOthersCanReadIt) {
  const SlowCommits slow;
  const auto writer = place_.open(), watched = place_.open(), reader = place_.open();
  std::counting_semaphore<> told(0);
  std::jthread thread([&](const std::stop_token& stop) {
    EXPECT_TRUE(watched->watch([&] { told.release(); }, stop));
  });
  ASSERT_TRUE(told.try_acquire_for(std::chrono::seconds(20))) << "what was there before";
  for (int number = 1; number <= 3; ++number) {
    std::jthread other([&] {
      SlowCommits::is_slow = true;
      EXPECT_TRUE(writer->cache("a", Value(number), Time()));
    });
    do
      ASSERT_TRUE(told.try_acquire_for(std::chrono::seconds(20))) << number;
    while (reader->cached("a")->value_or(Value()) != Value(number));
  }
}

TEST_F(SqliteWatchTest, NobodyIsToldOfWhatIsNotWritten) {
  const auto writer = place_.open(), watched = place_.open();
  std::counting_semaphore<> told(0);
  std::jthread thread([&](const std::stop_token& stop) {
    EXPECT_TRUE(watched->watch([&] { told.release(); }, stop));
  });
  ASSERT_TRUE(told.try_acquire_for(std::chrono::seconds(20)));
  ASSERT_TRUE(writer->cached("a"));
  EXPECT_FALSE(told.try_acquire_for(std::chrono::milliseconds(20)));
  ASSERT_TRUE(writer->cache("a", Value(1), Time()));
  EXPECT_TRUE(told.try_acquire_for(std::chrono::seconds(20)));
}

}  // namespace
}  // namespace fettle
