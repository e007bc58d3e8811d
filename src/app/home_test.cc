#include "app/home.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

class HomeTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  Result<Home> open() {
    return open_home([this](const char* name) { return variables_[name]; });
  }
  std::string error() {
    const auto home = open();
    return home ? "opened " + home->folder : to_string(home.error());
  }
  static unsigned mode_of(const std::string& path) {
    struct stat about{};
    return stat(path.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  std::map<std::string, std::string> variables_;
};

TEST_F(HomeTest, IsMadeForItsOwnerAlone) {
  variables_["HOME"] = at("user");
  EXPECT_EQ(open()->folder, at("user/.local/state/fettle"));
  EXPECT_EQ(mode_of(at("user/.local/state/fettle")), 0700u);
  EXPECT_EQ(open()->warning, "");
  variables_["XDG_STATE_HOME"] = at("state");
  EXPECT_EQ(open()->folder, at("state/fettle"));
  variables_["FETTLE_HOME"] = at("own/deep/") + "/";
  EXPECT_EQ(open()->folder, at("own/deep"));
  EXPECT_EQ(mode_of(at("own/deep")), 0700u);
}

TEST_F(HomeTest, OneThatIsOpenToOthersIsUsedAndNotChanged) {
  std::filesystem::create_directory(at("open"));
  ASSERT_EQ(chmod(at("open").c_str(), 0755), 0);
  variables_["FETTLE_HOME"] = at("open");
  EXPECT_EQ(open()->warning, cat("other users can read the folder of fettle's state (mode 755); "
                                 "`chmod 700 ",
                                 at("open"), "` closes it"));
  EXPECT_EQ(mode_of(at("open")), 0755u);
  ASSERT_EQ(chmod(at("open").c_str(), 0710), 0);
  EXPECT_NE(open()->warning, "");
}

TEST_F(HomeTest, FoldersOfEverybodyAreRefused) {
  for (const char* folder : {"/", "/tmp", "/tmp/", "//tmp", "/var", "/usr/../tmp", "/etc", "/root",
                             "/home", "/home/somebody", "/dev/shm", "/var/tmp", "/run"}) {
    variables_["FETTLE_HOME"] = folder;
    EXPECT_NE(error().find("; set `$FETTLE_HOME` to a folder that fettle alone uses"),
              std::string::npos)
        << error();
  }
  std::filesystem::create_directory(at("user"));
  variables_["HOME"] = at("user");
  variables_["FETTLE_HOME"] = at("user");
  EXPECT_EQ(error(),
            cat("state cannot be kept in `", at("user"),
                "`, a home folder; set `$FETTLE_HOME` to a folder that fettle alone uses"));
  // A link to one is one.
  std::filesystem::create_symlink("/etc", at("link"));
  variables_["FETTLE_HOME"] = at("link");
  EXPECT_NE(error().find("`/etc`, a folder of the system"), std::string::npos);
}

TEST_F(HomeTest, WithoutAnyVariableTheErrorSaysWhatToSet) {
  EXPECT_NE(error().find("set `$FETTLE_HOME`"), std::string::npos);
  EXPECT_EQ(open().error().blame, Blame::user);
}

TEST_F(HomeTest, WhatIsNoFolderIsRefused) {
  ASSERT_TRUE(write_file(at("file"), ""));
  variables_["FETTLE_HOME"] = at("file");
  EXPECT_NE(error().find("` is not a folder"), std::string::npos);
  variables_["FETTLE_HOME"] = at("file/below");
  EXPECT_FALSE(open());
}

}  // namespace
}  // namespace fettle
