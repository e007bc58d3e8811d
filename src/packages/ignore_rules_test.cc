#include "packages/ignore_rules.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace fettle {
namespace {

IgnoreRules ignored(std::string_view text) {
  const auto folder = TemporaryDirectory::make("ignored-");
  EXPECT_TRUE(folder);
  EXPECT_TRUE(write_file(folder->path() / ".kurtosisignore", text));
  Result<IgnoreRules> read = IgnoreRules::of_folder(folder->path());
  EXPECT_TRUE(read);
  return std::move(*read);
}

TEST(IgnoreRules, ANameCountsAtAnyDepthAndAPathOnlyAsAWhole) {
  const IgnoreRules some = ignored("*.log\n a/b.txt \n");
  EXPECT_TRUE(some.has("x.log", false));
  EXPECT_TRUE(some.has("deep/er/x.log", false));
  EXPECT_TRUE(some.has("old.log/x", false));
  EXPECT_TRUE(some.has("a/b.txt", false));
  EXPECT_FALSE(some.has("c/a/b.txt", false));
  EXPECT_FALSE(some.has("x.logs", false));
}

TEST(IgnoreRules, AFolderTakesWhatIsInItAlong) {
  const IgnoreRules some = ignored("# comment\n\n.git/\nstatic/*/raw\n");
  EXPECT_TRUE(some.has(".git", true));
  EXPECT_TRUE(some.has("sub/.git/config", false));
  EXPECT_FALSE(some.has(".git", false));
  EXPECT_TRUE(some.has("static/a/raw/data", false));
  EXPECT_FALSE(some.has("static/a/b/raw", false));
  EXPECT_FALSE(some.has("# comment", false));
}

TEST(IgnoreRules, ALinkIsNotFollowedAndAFileHasALimit) {
  const auto folder = TemporaryDirectory::make("ignored-");
  ASSERT_TRUE(folder);
  std::filesystem::create_symlink("/dev/zero", folder->path() / ".kurtosisignore");
  const Result<IgnoreRules> none = IgnoreRules::of_folder(folder->path());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->is_empty());
  std::filesystem::remove(folder->path() / ".kurtosisignore");
  ASSERT_TRUE(write_file(folder->path() / ".kurtosisignore", std::string(2 << 20, 'a')));
  const Result<IgnoreRules> large = IgnoreRules::of_folder(folder->path());
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().blame, Blame::user);
}

TEST(IgnoreRules, WithoutSuchAFileNothingIs) {
  const auto folder = TemporaryDirectory::make("ignored-");
  ASSERT_TRUE(folder);
  const Result<IgnoreRules> none = IgnoreRules::of_folder(folder->path());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->is_empty());
  EXPECT_FALSE(none->has("a", false));
}

}  // namespace
}  // namespace fettle
