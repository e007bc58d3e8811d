#include "base/seal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"

namespace fettle {
namespace {

class SealTest : public testing::Test {
 protected:
  const TemporaryDirectory folder_ = *TemporaryDirectory::make();
  const Path path_ = folder_.path() / "key";
};

TEST_F(SealTest, WhatIsSealedIsOpenedWithTheSameKeyOnly) {
  const Seal seal = *Seal::from_file(path_);
  const std::string sealed = seal.close("the password");
  EXPECT_EQ(sealed.find("password"), sealed.npos);
  EXPECT_EQ(sealed, seal.close("the password"));
  EXPECT_NE(sealed, seal.close("the passwore"));
  EXPECT_EQ(Seal::from_file(path_)->open(sealed), "the password");
  const Seal other = *Seal::from_file(folder_.path() / "other");
  EXPECT_FALSE(other.open(sealed));
}

TEST_F(SealTest, WhatWasChangedIsNotOpened) {
  const Seal seal = *Seal::from_file(path_);
  const std::string sealed = seal.close("a");
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(seal.open(changed)) << i;
  }
  EXPECT_FALSE(seal.open(""));
  EXPECT_FALSE(seal.open(sealed.substr(0, sealed.size() - 1)));
}

TEST_F(SealTest, TheKeyIsForItsOwnerAlone) {
  ASSERT_TRUE(Seal::from_file(path_));
  struct stat status{};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(SealTest, AFileThatIsNoKeyIsAnError) {
  ASSERT_TRUE(write_file(path_, "short"));
  const Result<Seal> seal = Seal::from_file(path_);
  ASSERT_FALSE(seal);
  EXPECT_NE(seal.error().message.find("is not a key: it has 5 bytes instead of 64"),
            std::string::npos);
}

}  // namespace
}  // namespace fettle
