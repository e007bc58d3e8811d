/// What contents keep their word about, in a folder and in PostgreSQL.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/hash.h"
#include "store/blobs.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

/// More than a database keeps to itself before it has to write.
const std::string half(size_t{3} << 20, 'h');

class BlobsContract : public testing::TestWithParam<StoreKind>, protected StoreWords {
 protected:
  BlobsContract() { open(); }
  /// As another process would.
  void open() {
    blobs_.reset();
    opened_ = {};
    opened_ = place_.open_whole();
    blobs_ = std::make_unique<FileBlobs>(*opened_.disk, *opened_.index, opened_.blobs);
  }
  Result<std::string> read(const std::string& digest) {
    return read_blob(*blobs_, digest, 10 << 20);
  }
  /// Has a record refer to a content.
  void refer(const std::string& digest, bool by_attempt = false) {
    auto record = std::make_shared<Record>();
    Resource resource;
    resource.key = key_;
    resource.attributes = Value::dict({{"nested", Value::list({Value::secret(digest)})}});
    if (by_attempt)
      record->attempt = Attempt{resource, Verb::create, {}, true, "no", 0};
    else
      record->applied = resource;
    ASSERT_TRUE(edit(*opened_.store)->write(std::vector{Change{Change::record, key_, record, {}}}));
  }
  void forget() {
    ASSERT_TRUE(
        edit(*opened_.store)->write(std::vector{Change{Change::forget, key_, nullptr, {}}}));
  }
  Path place_of(const std::string& digest) const {
    return Path(opened_.blobs) / digest.substr(0, 2) / digest.substr(2);
  }
  size_t files() const {
    if (GetParam() == StoreKind::postgres)
      return std::stoul(PostgresServer::of_program().sql(
          cat("SELECT count(*) FROM ", place_.schema(), ".files")));
    size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(opened_.blobs))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
  /// The server needs a moment to see that a process is gone.
  size_t cleared_soon() {
    size_t cleared = 0;
    for (int i = 0; i < 1'000 && cleared == 0; ++i) {
      cleared = *blobs_->clear();
      usleep(cleared == 0 ? 10'000 : 0);
    }
    return cleared;
  }

  const Key key_{"e", "artifact", "a"};
  StorePlace place_{GetParam()};
  OpenedStore opened_;
  std::unique_ptr<FileBlobs> blobs_;
};

INSTANTIATE_TEST_SUITE_P(In, BlobsContract, testing::Values(StoreKind::file, StoreKind::postgres),
                         name_of_store);

TEST_P(BlobsContract, AreKeptByTheirDigest) {
  const std::string digest = *blobs_->put("abc");
  EXPECT_EQ(digest, sha256_hex("abc"));
  EXPECT_EQ(*blobs_->put("abc"), digest);
  EXPECT_EQ(*read(digest), "abc");
  EXPECT_EQ(blobs_->open(digest)->size, 3u);
  EXPECT_FALSE(*blobs_->has(sha256_hex("other")));
  EXPECT_FALSE(*blobs_->has("../../etc/passwd"));
  EXPECT_EQ(blobs_->open(sha256_hex("other")).error().lost_content, sha256_hex("other"));
  EXPECT_EQ(files(), 1u);
  open();
  EXPECT_EQ(*read(digest), "abc");
}

TEST_P(BlobsContract, ManyAreFoundAsEachIs) {
  DigestSet used, put, asked{"", "../../etc/passwd", sha256_hex("other")};
  for (int i = 0; i < 150; ++i) {  // more than one question has places for
    const std::string digest = *blobs_->put(std::to_string(i));
    put.insert(digest);
    if (i % 2 == 0)
      used.insert(digest);
  }
  Resource resource;
  resource.key = key_;
  resource.attributes = Value::list(std::vector<Value>(used.begin(), used.end()));
  auto record = std::make_shared<Record>();
  record->applied = resource;
  ASSERT_TRUE(edit(*opened_.store)->write(std::vector{Change{Change::record, key_, record, {}}}));
  asked.insert(put.begin(), put.end());
  EXPECT_EQ(*blobs_->find_all(asked), put);
  EXPECT_EQ(*blobs_->find_all({}), DigestSet());
  const std::string cut = *used.begin(), lost = *used.rbegin();
  ASSERT_TRUE(opened_.disk->remove(place_of(lost)));
  ASSERT_TRUE(opened_.disk->remove(place_of(cut)));
  ASSERT_TRUE((*opened_.disk->create(place_of(cut)))->sync());
  put.erase(cut);
  put.erase(lost);
  EXPECT_EQ(*blobs_->find_all(asked), put);
  EXPECT_FALSE(*opened_.index->is_listed(lost));
}

/// As `has` does.
TEST_P(BlobsContract, WhatWasFoundAmongManyIsKept) {
  const std::string digest = *blobs_->put("abc");
  open();  // the process that put it is gone
  EXPECT_EQ(blobs_->find_all({digest})->size(), 1u);
  EXPECT_EQ(*blobs_->clear(), 0u);
  EXPECT_TRUE(*blobs_->has(digest));
}

TEST_P(BlobsContract, ADraftThatIsNotFinishedLeavesNothing) {
  {
    const auto draft = *blobs_->begin();
    ASSERT_TRUE(draft->add(half));
    EXPECT_EQ(files(), 1u);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_P(BlobsContract, ADraftThatIsGoneIsNoContent) {
  const std::string digest = sha256_hex("abc");
  const Path folder = opened_.blobs;
  const Status refused = opened_.index->add(digest, 3, [&] {
    return opened_.disk->rename(folder / "new-x-0", folder / digest.substr(0, 2));
  });
  ASSERT_FALSE(refused);
  EXPECT_FALSE(*opened_.index->is_listed(digest));
}

TEST_P(BlobsContract, WhatARecordOrAFailedAttemptRefersToIsNotCleared) {
  const std::string digest = *blobs_->put("abc");
  refer(digest);
  open();  // the process that put it is gone
  EXPECT_EQ(*blobs_->clear(), 0u);
  refer(digest, true);
  EXPECT_EQ(*blobs_->clear(), 0u);
  EXPECT_EQ(*read(digest), "abc");
  forget();
  EXPECT_EQ(*blobs_->clear(), 1u);
  EXPECT_FALSE(*blobs_->has(digest));
  EXPECT_EQ(files(), 0u);
}

TEST_P(BlobsContract, WhatSomebodyWhoLivesHasPutIsNotCleared) {
  const std::string digest = *blobs_->put("abc");
  EXPECT_EQ(*blobs_->clear(), 0u);
  // Another process that only asked for it may also be about to refer to it.
  std::array<int, 2> ready{}, gate{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(gate.data()), 0);
  const pid_t other = fork_until_end();
  if (other == 0) {
    const OpenedStore opened = place_.open_whole();
    FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
    char byte = *blobs.has(digest) ? 'y' : 'n';
    const auto draft = *blobs.begin();
    static_cast<void>(!draft->add(half));
    static_cast<void>(!::write(ready[1], &byte, 1));
    static_cast<void>(!::read(gate[0], &byte, 1));
    kill(getpid(), SIGKILL);
  }
  close(ready[1]);  // else a child that dies would never be at its end
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  open();
  EXPECT_EQ(*blobs_->clear(), 0u);
  EXPECT_EQ(files(), 2u);  // the content and a half
  ASSERT_EQ(::write(gate[1], "1", 1), 1);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(cleared_soon(), 1u);
  EXPECT_EQ(files(), 0u);
  for (const int end : {ready[0], gate[0], gate[1]})
    close(end);
}

TEST_P(BlobsContract, ALargeOneIsReadAsItWasWritten) {
  std::string bytes(2'500'000, 'a');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 7 + i / 1'000);
  const std::string digest = *blobs_->put(bytes);
  EXPECT_EQ(*read(digest), bytes);
  EXPECT_EQ(*blobs_->put(bytes), digest);
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(*read(*blobs_->put(std::string(size_t{1} << 20, 'x'))), std::string(1 << 20, 'x'));
  EXPECT_EQ(*read(*blobs_->put("")), "");
}

}  // namespace
}  // namespace fettle
