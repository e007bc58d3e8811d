#include "store/blobs.h"

#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "store/references.h"
#include "store/sqlite.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/small_disk.h"

namespace fettle {
namespace {

class BlobsTest : public testing::Test {
 protected:
  std::string file_of(const std::string& digest) const {
    return home_.path(cat("blobs/", digest.substr(0, 2), "/", digest.substr(2)));
  }
  Result<std::string> read(const std::string& digest) {
    return read_blob(home_.blobs(), digest, 1 << 20);
  }
  size_t files() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.path("blobs")))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }

  TestHome home_;
};

TEST_F(BlobsTest, OneThatWasCutIsNotThereAndIsWrittenOverByTheNext) {
  for (const size_t size : {0u, 2u}) {
    const std::string digest = *home_.blobs().put("abc");
    std::filesystem::resize_file(file_of(digest), size);
    EXPECT_FALSE(*home_.blobs().has(digest));
    EXPECT_EQ(home_.blobs().open(digest).error().lost_content, digest);
    EXPECT_EQ(*home_.blobs().put("abc"), digest);
    EXPECT_EQ(*read(digest), "abc");
  }
}

TEST_F(BlobsTest, OneWithOtherBytesIsFoundOutWhenItIsReadAndIsGoneThen) {
  const std::string digest = *home_.blobs().put("abc");
  std::ofstream(file_of(digest)) << "abd";
  EXPECT_TRUE(*home_.blobs().has(digest));
  const auto damaged = read(digest);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().lost_content, digest);
  EXPECT_FALSE(*home_.blobs().has(digest));
}

TEST_F(BlobsTest, AFolderThatIsGoneIsMadeAgain) {
  const std::string digest = *home_.blobs().put("abc");
  std::filesystem::remove_all(home_.path("blobs"));
  EXPECT_FALSE(*home_.blobs().has(digest));
  EXPECT_EQ(*home_.blobs().put("abc"), digest);
  EXPECT_TRUE(*home_.blobs().has(digest));
}

TEST_F(BlobsTest, AStoreThatIsGoneFindsTheContentsAgain) {
  const std::string digest = *home_.blobs().put("abc"), bad = *home_.blobs().put("bad");
  std::ofstream(file_of(bad)) << "dab";
  for (const char* file : {"fettle.db", "fettle.db-wal", "fettle.db-shm"})
    std::filesystem::remove(home_.path(file));
  home_.open();
  EXPECT_TRUE(*home_.blobs().has(digest));
  EXPECT_FALSE(*home_.blobs().has(bad));
}

TEST_F(BlobsTest, AFileThatWasNeverListedIsCleared) {
  const std::string digest = *home_.blobs().put("abc");
  auto database = *Sqlite::open(home_.path("fettle.db"));
  ASSERT_TRUE(database->execute("DELETE FROM blobs"));
  EXPECT_EQ(*home_.blobs().clear(), 1u);
  EXPECT_EQ(files(), 0u);
  EXPECT_FALSE(*home_.blobs().has(digest));
}

TEST_F(BlobsTest, WhatTheStoreOfAnEarlierFettleRefersToIsKept) {
  {
    auto database = *Sqlite::open(home_.path("earlier.db"));
    const std::string dump = *read_file(FETTLE_SOURCE_DIR "/tests/store/store_of_format_2.sql");
    ASSERT_TRUE(database->execute(dump.c_str()));
  }
  const auto store = *open_sqlite_store(home_.path("earlier.db"));
  const Known known = *store->known("shop");
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(store->versions().heads("model")->size(), 1u);
  // That fettle listed no files.
  const std::string digest(dict_of(known.begin()->second->outputs).text_at("digest"));
  const auto place_of = [&](const std::string& one) {
    return Path(home_.path("earlier")) / one.substr(0, 2) / one.substr(2);
  };
  for (const std::string& one : {digest, sha256_hex("nobody's")}) {
    std::filesystem::create_directories(place_of(one).parent_path());
    std::ofstream(place_of(one)) << "content";
  }
  const auto disk = make_posix_disk();
  const auto index = make_sqlite_blob_index(home_.path("earlier.db"));
  EXPECT_EQ(*FileBlobs(*disk, *index, home_.path("earlier")).clear(), 1u);
  EXPECT_TRUE(std::filesystem::exists(place_of(digest)));
}

TEST_F(BlobsTest, OneThatDoesNotFitLeavesNothingBehind) {
  const auto work = [this] {
    const auto index = make_sqlite_blob_index(home_.path("blobs/fettle.db"));
    const auto disk = make_posix_disk();
    FileBlobs blobs(*disk, *index, home_.path("blobs/contents"));
    const Result<std::string> digest = blobs.put(std::string(1'000'000, 'x'));
    if (digest || to_string(digest.error()).find("no space left") == std::string::npos)
      return 1;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(home_.path("blobs/contents")))
      if (entry.is_regular_file())
        return 2;
    return blobs.put("small") ? 0 : 3;
  };
  std::filesystem::create_directories(home_.path("blobs"));
  EXPECT_EQ(on_a_small_disk(home_.path("blobs"), 600, work), 0);
}

TEST(References, AreTheDigestsAnywhereInAValue) {
  const std::string a = sha256_hex("a"), b = sha256_hex("b");
  EXPECT_TRUE(digests_in(Value::dict({{"x", a + "0"}, {"y", a.substr(1)}, {"z", 7}})).empty());
  const Value found = Value::dict({{"x", Value::list({b, Value::dict({{"y", a}})})}, {"z", a}});
  EXPECT_EQ(digests_in(found), (std::vector{std::min(a, b), std::max(a, b)}));
  EXPECT_EQ(digests_in(Value::dict({{Name(a), 1}})), std::vector{a});
}

TEST(References, AreFoundInTimeProportionalToWhatIsShared) {
  Value value = Value::list({sha256_hex("a")});
  for (int i = 0; i < 64; ++i)
    value = Value::list({value, value});
  EXPECT_EQ(digests_in(value), std::vector{sha256_hex("a")});
}

}  // namespace
}  // namespace fettle
