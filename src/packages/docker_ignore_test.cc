#include "packages/docker_ignore.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

bool leaves_out(std::string_view rules, std::string_view path) {
  const Result<DockerIgnore> ignored = DockerIgnore::of(rules, ".dockerignore");
  EXPECT_TRUE(ignored) << (ignored ? "" : to_string(ignored.error()));
  return ignored && ignored->has(path);
}

// The examples of Docker's own page about the file.
TEST(DockerIgnore, LeavesOutWhatDockerSays) {
  constexpr std::string_view rules = "# comment\n*/temp*\n*/*/temp*\ntemp?\n";
  for (const char* path : {"somedir/temporary.txt", "somedir/temp", "somedir/subdir/temporary.txt",
                           "tempa", "tempb", "somedir/temp/below/it"})
    EXPECT_TRUE(leaves_out(rules, path)) << path;
  for (const char* path : {"temp", "temporary.txt", "tempab", "a/b/c/temp", "# comment"})
    EXPECT_FALSE(leaves_out(rules, path)) << path;
}

TEST(DockerIgnore, TwoStarsMeanAnyNumberOfFolders) {
  EXPECT_TRUE(leaves_out("**/*.go", "a.go"));
  EXPECT_TRUE(leaves_out("**/*.go", "a/b/c.go"));
  EXPECT_FALSE(leaves_out("*.go", "a/b.go"));
  EXPECT_TRUE(leaves_out("a/**/b", "a/b"));
  EXPECT_TRUE(leaves_out("a/**/b", "a/x/y/b"));
  EXPECT_TRUE(leaves_out("a/**", "a/x/y"));
  EXPECT_FALSE(leaves_out("a/**", "a"));
  EXPECT_TRUE(leaves_out("**", "anything/at/all"));
}

TEST(DockerIgnore, TheLastLineThatMatchesCounts) {
  EXPECT_FALSE(leaves_out("*.md\n!README.md", "README.md"));
  EXPECT_TRUE(leaves_out("*.md\n!README.md", "b.md"));
  constexpr std::string_view secret = "*.md\n!README*.md\nREADME-secret.md";
  EXPECT_TRUE(leaves_out(secret, "README-secret.md"));
  EXPECT_FALSE(leaves_out(secret, "README-x.md"));
  EXPECT_FALSE(leaves_out("*.md\nREADME-secret.md\n!README*.md", "README-secret.md"));
  EXPECT_FALSE(leaves_out("*\n!src", "src/deep/a.c"));
  EXPECT_TRUE(leaves_out("*\n!src", "doc/a.c"));
  EXPECT_FALSE(leaves_out("node_modules\n!node_modules/keep", "node_modules/keep/x"));
}

TEST(DockerIgnore, CleansItsLines) {
  EXPECT_TRUE(leaves_out("/foo/bar", "foo/bar"));
  EXPECT_TRUE(leaves_out("foo/./x/../bar/  \r", "foo/bar/below"));
  EXPECT_TRUE(
      leaves_out("\xef\xbb\xbf"
                 "first",
                 "first"));
  EXPECT_TRUE(leaves_out("a.b", "a.b"));
  EXPECT_FALSE(leaves_out("a.b", "axb"));
  EXPECT_TRUE(leaves_out("[a-c].txt", "b.txt"));
  EXPECT_FALSE(leaves_out("[^a-c].txt", "b.txt"));
  EXPECT_TRUE(leaves_out("a\\*", "a*"));
  EXPECT_FALSE(leaves_out("a\\*", "ab"));
  EXPECT_FALSE(leaves_out(".", "a"));
}

TEST(DockerIgnore, NamesTheLineThatIsNoPattern) {
  for (const char* rules : {"a\n[", "a\n!", "a\n[z-a]"}) {
    const Result<DockerIgnore> ignored = DockerIgnore::of(rules, "x/.dockerignore");
    ASSERT_FALSE(ignored) << rules;
    EXPECT_EQ(to_string(ignored.error().where), "x/.dockerignore:2:1");
  }
}

// Backtracking would need longer than the universe has.
TEST(DockerIgnore, MatchesHostilePatternsInTime) {
  std::string pattern;
  for (int i = 0; i < 40; ++i)
    pattern += "*a";
  EXPECT_FALSE(leaves_out(pattern, std::string(200, 'a') + "b"));
}

}  // namespace
}  // namespace fettle
