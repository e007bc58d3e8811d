/// A folder is there as a whole, or not at all.

#include "base/new_folder.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

class NewFolderTest : public testing::Test {
 protected:
  Path at(const std::string& name) const { return folder_->path() / name; }
  size_t things() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_->path()))
      ++count;
    return count;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(NewFolderTest, AppearsWhenItIsFinished) {
  {
    Result<NewFolder> made = NewFolder::make(at("a/b/"));
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(made->name(), at("a/b"));
    ASSERT_TRUE(write_file(made->path() / "file", "text"));
    EXPECT_FALSE(file_exists(at("a/b")));
    const Status done = made->finish();
    ASSERT_TRUE(done) << to_string(done.error());
  }
  EXPECT_EQ(read_file(at("a/b/file")).value_or(""), "text");
  EXPECT_EQ(things(), 1u);
}

TEST_F(NewFolderTest, LeavesNothingWhenItIsNot) {
  {
    const Result<NewFolder> made = NewFolder::make(at("a"));
    ASSERT_TRUE(made) << to_string(made.error());
    ASSERT_TRUE(write_file(made->path() / "file", "text"));
  }
  EXPECT_EQ(things(), 0u);
}

TEST_F(NewFolderTest, TakesTheNameOfNothing) {
  ASSERT_TRUE(make_directories(at("folder")));
  ASSERT_TRUE(write_file(at("file"), ""));
  std::filesystem::create_symlink("nowhere", at("link"));
  for (const char* name : {"folder", "folder/", "file", "link", "."}) {
    const Result<NewFolder> made = NewFolder::make(at(name));
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().blame, Blame::user) << name;
    EXPECT_NE(made.error().message.find("already exists"), std::string::npos) << name;
  }
  // Not even when somebody else makes it meanwhile.
  Result<NewFolder> made = NewFolder::make(at("late"));
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_TRUE(make_directories(at("late")));
  EXPECT_FALSE(made->finish());
}

TEST_F(NewFolderTest, WhereNothingCanBeMadeIsAnErrorOfTheWorld) {
  ASSERT_TRUE(write_file(at("file"), ""));
  for (const Path& name : {at("file/below"), Path("/proc/nothing/here")}) {
    const Result<NewFolder> made = NewFolder::make(name);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().blame, Blame::world) << name;
  }
}

}  // namespace
}  // namespace fettle
