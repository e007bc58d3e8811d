#include "packages/sources.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

class SourcesTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_directories(Path(at(name)).parent_path()));
    ASSERT_TRUE(write_file(at(name), text));
  }
  void link(const std::string& target, const std::string& name) {
    ASSERT_TRUE(make_directories(Path(at(name)).parent_path()));
    fs::create_symlink(target, at(name));
  }
  /// A package in `folder`, with a file `file`.
  void package(const std::string& folder, const std::string& name, const std::string& rules = {}) {
    write(folder + "/kurtosis.yml", cat("name: ", name, "\n", rules));
    write(folder + "/file", name);
  }
  /// What `text` in the root's main file leads to: the text of the file, or the error.
  static std::string read(Result<Sources>& sources, const std::string& text) {
    if (!sources)
      return to_string(sources.error());
    const auto locator = sources->resolve(text, sources->root("main.star"));
    const auto found = locator ? sources->read(*locator) : Result<std::string>(locator.error());
    return found ? *found : to_string(found.error());
  }
  std::string read_local(const std::string& folder, const std::string& text) {
    auto sources = Sources::of_folder(at(folder));
    if (sources)
      sources->set_mirror(at("mirror"));
    return read(sources, text);
  }
  std::string read_fetched(const std::string& locator, const std::string& text) {
    auto sources = Sources::of_locator(locator, at("mirror"), {});
    return read(sources, text);
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(SourcesTest, ALocalPackageReadsItsOwnFolderAndNoMore) {
  package("home/p", "github.com/a/b/p");
  write("home/.ssh/key", "secret");
  write("home/p/sub/deep", "deep");
  EXPECT_EQ(read_local("home/p", "./sub/deep"), "deep");
  EXPECT_EQ(read_local("home/p", "/sub/../file"), "github.com/a/b/p");
  // Its name claims that what lies beside it is its repository.
  for (const char* text : {"../.ssh/key", "github.com/a/b/.ssh/key", "/../.ssh/key"})
    EXPECT_NE(read_local("home/p", text).find("has no `github.com/a/b`"), std::string::npos)
        << text;
}

TEST_F(SourcesTest, AFolderAboveCountsWhenItSaysSoItself) {
  package("clone/p", "github.com/A/b/p");
  package("clone/q", "github.com/a/b/q");
  write("clone/.git/config", "[remote \"origin\"]\n\turl = git@github.com:a/B.git\n");
  EXPECT_EQ(read_local("clone/q", "../p/file"), "github.com/A/b/p");
  EXPECT_EQ(read_local("clone/q", "github.com/a/b/p/file"), "github.com/A/b/p");
  write("clone/.git/config", "[remote \"origin\"]\n\turl = https://github.com/other/b\n");
  EXPECT_NE(read_local("clone/q", "../p/file"), "github.com/A/b/p");
  package("above", "github.com/a/b/above");
  package("above/in/child", "github.com/a/b/above/in/child");
  EXPECT_EQ(read_local("above/in/child", "github.com/a/b/above/file"), "github.com/a/b/above");
  package("above", "github.com/a/b/other");
  EXPECT_NE(read_local("above/in/child", "../../file"), "github.com/a/b/other");
}

TEST_F(SourcesTest, AFetchedPackageReadsItsRepositoryAndNoMore) {
  package("mirror/github.com/a/b/p", "github.com/a/b/p");
  package("mirror/github.com/a/b/q", "github.com/a/b/q");
  write("mirror/github.com/a/secret", "secret");
  link("../q/file", "mirror/github.com/a/b/p/inside");
  link("../../secret", "mirror/github.com/a/b/p/out");
  EXPECT_EQ(read_fetched("github.com/a/b/p", "../q/file"), "github.com/a/b/q");
  EXPECT_EQ(read_fetched("github.com/a/b/p", "./inside"), "github.com/a/b/q");
  EXPECT_EQ(read_fetched("github.com/a/b/p", "./out"),
            "opening `github.com/a/b/p/out`: `p/out` leads outside");
  EXPECT_EQ(read_fetched("github.com/a/b/p", "../../secret"),
            "the locator `../../secret` leads outside `github.com/a/b`");
}

TEST_F(SourcesTest, ALocalRuleCountsForALocalPackageOnly) {
  write("elsewhere/file", "elsewhere");
  write("elsewhere/sub/file", "below");
  write("outside", "outside");
  link("../outside", "elsewhere/out");
  package("mirror/github.com/x/y", "github.com/x/y");
  const std::string rules = cat("replace:\n  github.com/x/y: ", at("elsewhere"), "\n");
  package("p", "github.com/a/p", rules);
  EXPECT_EQ(read_local("p", "github.com/x/y/file"), "elsewhere");
  EXPECT_EQ(read_local("p", "github.com/x/y/sub/file"), "below");
  EXPECT_NE(read_local("p", "github.com/x/y/out").find("leads outside"), std::string::npos);
  package("relative", "github.com/a/p", "replace:\n  github.com/x/y: ../elsewhere\n");
  EXPECT_EQ(read_local("relative", "github.com/x/y/file"), "elsewhere");

  package("mirror/github.com/a/p", "github.com/a/p", rules);
  EXPECT_EQ(read_fetched("github.com/a/p", "github.com/x/y/file"), "github.com/x/y");
  const auto sources = Sources::of_locator("github.com/a/p", at("mirror"), {});
  EXPECT_EQ(sources->warnings(),
            (std::vector<std::string>{cat("the rule that replaces `github.com/x/y` with `",
                                          at("elsewhere"),
                                          "` is ignored: `github.com/a/p` is "
                                          "not a package on this machine")}));
  // The rules of a dependency never count.
  package("user", "github.com/a/user");
  package("mirror/github.com/x/dep", "github.com/x/dep", rules);
  EXPECT_EQ(read_local("user", "github.com/x/y/file"), "github.com/x/y");
}

TEST_F(SourcesTest, TheUsersOwnFolderMayBeALink) {
  package("real", "github.com/a/p");
  link("real", "linked");
  EXPECT_EQ(read_local("linked", "./file"), "github.com/a/p");
}

TEST_F(SourcesTest, APackageFileThatLeadsOutsideIsNotRead) {
  write("outside.yml", "name: github.com/a/p\n");
  link("../outside.yml", "p/kurtosis.yml");
  EXPECT_EQ(read_local("p", "./file"), "`kurtosis.yml` leads outside");
}

TEST_F(SourcesTest, AScriptReadsItsFolder) {
  write("scripts/s.star", "");
  write("scripts/data", "data");
  write("secret", "secret");
  link("../secret", "scripts/out");
  auto sources = Sources::of_script(at("scripts/s.star"));
  EXPECT_EQ(read(sources, "./data"), "data");
  EXPECT_NE(read(sources, "./out").find("`out` leads outside"), std::string::npos);
  EXPECT_EQ(read(sources, "../secret"), "the locator `../secret` leads outside `script`");
}

}  // namespace
}  // namespace fettle
