#include "cli/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"

namespace fettle {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  const TemporaryDirectory folder_ = *TemporaryDirectory::make();
  const std::string path_ = (folder_.path() / "out").string();
};

TEST_F(OutputFileTest, AFileIsReplacedAndKeepsItsMode) {
  ASSERT_TRUE(write_output(path_, "one"));
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  ASSERT_TRUE(write_output(path_, "two"));
  EXPECT_EQ(*read_file(path_), "two");
  struct stat about{};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
}

TEST_F(OutputFileTest, ALinkIsFollowed) {
  const std::string link = (folder_.path() / "link").string();
  ASSERT_TRUE(write_output(path_, "one"));
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  ASSERT_TRUE(write_output(link, "two"));
  EXPECT_EQ(*read_file(path_), "two");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(OutputFileTest, APipeAndADeviceStayWhatTheyAre) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = *read_file(path_); });
  EXPECT_TRUE(write_output(path_, "through the pipe"));
  reader.join();
  EXPECT_EQ(read, "through the pipe");
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_TRUE(write_output("/dev/null", "away"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Status full = write_output("/dev/full", "nowhere to go");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().blame, Blame::world);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, APathThatCannotBeMeantIsAFaultOfWhoGaveIt) {
  const Status folder = write_output(folder_.path().string(), "text");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().blame, Blame::user);
  const Status nowhere = write_output(path_ + "/no/such", "text");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().blame, Blame::user);
  EXPECT_NE(nowhere.error().message.find("there is no folder"), std::string::npos);
}

}  // namespace
}  // namespace fettle
