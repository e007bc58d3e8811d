#include "packages/locator.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

TEST(Locator, NamesRepositoryPathAndRef) {
  const Locator locator = *parse_locator("https://github.com/a/b/sub/x.star@v1.2");
  EXPECT_EQ(locator.path, "github.com/a/b/sub/x.star");
  EXPECT_EQ(locator.ref, "v1.2");
  EXPECT_EQ(locator.repository(), "github.com/a/b");
  EXPECT_EQ(locator.inside(), "sub/x.star");
  EXPECT_EQ(parse_locator("github.com/a/b@main/lib.star")->path, "github.com/a/b/lib.star");
  EXPECT_EQ(parse_locator("github.com/a/b")->inside(), "");
}

TEST(Locator, ABranchMayHaveSlashesInItsName) {
  const auto parts = [](const char* text) {
    const Locator locator = *parse_locator(text);
    return std::pair(locator.path, locator.ref);
  };
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("github.com/a/b@feature/x"), Parts("github.com/a/b", "feature/x"));
  EXPECT_EQ(parts("github.com/a/b/sub@feature/x"), Parts("github.com/a/b/sub", "feature/x"));
  EXPECT_EQ(parts("github.com/a/b/lib.star@feature/x"),
            Parts("github.com/a/b/lib.star", "feature/x"));
  EXPECT_EQ(parts("github.com/a/b@feature/x/lib.star"),
            Parts("github.com/a/b/lib.star", "feature/x"));
  EXPECT_EQ(parts("github.com/a/b@v1.2/data.json"), Parts("github.com/a/b/data.json", "v1.2"));
  EXPECT_EQ(parts("github.com/a/b@release/1.2"), Parts("github.com/a/b", "release/1.2"));
  EXPECT_EQ(parts("github.com/a/b@v1.2.3"), Parts("github.com/a/b", "v1.2.3"));
}

TEST(Locator, WhatGitWouldNotTakeAsANameIsRefused) {
  for (const char* wrong : {"github.com/a/b@/x", "github.com/a/b@x/", "github.com/a/b@../../x",
                            "github.com/a/b@a//b", "github.com/a/b@--upload-pack=x",
                            "github.com/a/b@a b", "github.com/a/b@a:b", "github.com/a/b@/lib.star"})
    EXPECT_FALSE(parse_locator(wrong)) << wrong;
  EXPECT_EQ(parse_locator("github.com/a/b@x/../y").error().message,
            "`x/../y` in `github.com/a/b@x/../y` is not the name of a tag, branch or commit");
}

TEST(Locator, WhatIsNoPackageIsAnErrorThatSaysWhatIsExpected) {
  for (const char* wrong :
       {"gitlab.com/a/b", "github.com/a", "github.com/a/b@", "github.com/a/../../etc", "a/b"})
    EXPECT_FALSE(parse_locator(wrong)) << wrong;
  EXPECT_EQ(parse_locator("gitlab.com/a/b").error().message,
            "`gitlab.com/a/b` is not a package name: expected "
            "`github.com/AUTHOR/REPOSITORY[/DIRECTORY][@REF]`");
}

TEST(Locator, RelativeOnesStartAtTheirFileOrAtTheRootOfThePackage) {
  const Locator from{"github.com/a/b/pkg/src/main.star", ""};
  EXPECT_EQ(resolve_locator("./x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/pkg/src/x.star");
  EXPECT_EQ(resolve_locator("../x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/pkg/x.star");
  EXPECT_EQ(resolve_locator("/x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/pkg/x.star");
  EXPECT_EQ(resolve_locator("../../other/x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/other/x.star");
  EXPECT_FALSE(resolve_locator("../../../../x.star", from, "github.com/a/b/pkg"));
}

TEST(Locator, AnAbsoluteOneIntoItsOwnPackageIsRefusedAndTheParentIsNot) {
  const Locator from{"github.com/a/b/pkg/main.star", ""};
  EXPECT_NE(resolve_locator("github.com/a/b/pkg/x.star", from, "github.com/a/b/pkg")
                .error()
                .message.find("`/x.star`"),
            std::string::npos);
  EXPECT_EQ(resolve_locator("github.com/a/b/x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/x.star");
  EXPECT_EQ(resolve_locator("github.com/a/b/pkg2/x.star", from, "github.com/a/b/pkg")->path,
            "github.com/a/b/pkg2/x.star");
}

TEST(Locator, TheLongestReplaceRuleWins) {
  const std::map<std::string, std::string> rules{{"github.com/a/b", "github.com/c/d@v2"},
                                                 {"github.com/a/b/sub", "../local"},
                                                 {"github.com/a/bb", "github.com/x/y"}};
  EXPECT_EQ(replace_locator({"github.com/a/b/x.star", ""}, rules)->locator,
            (Locator{"github.com/c/d/x.star", "v2"}));
  const auto local = replace_locator({"github.com/a/b/sub/x.star", ""}, rules);
  EXPECT_EQ(local->local, "../local");
  EXPECT_EQ(local->inside, "x.star");
  EXPECT_EQ(replace_locator({"github.com/a/bc/x.star", ""}, rules)->locator.path,
            "github.com/a/bc/x.star");
}

TEST(Locator, NamesThatGitWouldReadAsSomethingElseAreRefused) {
  for (const char* text :
       {"github.com/--upload-pack=touch x/b", "github.com/a/--upload-pack=x", "github.com/-a/b",
        "github.com/a/.git", "github.com/a/b c", "github.com/a\nhost=evil/b", "github.com/a/b%0a",
        "github.com/user:password@evil/b", "github.com/a/b;x", "github.com/../etc",
        "github.com/a/b/../../../etc"})
    EXPECT_FALSE(parse_locator(text)) << text;
  for (const char* ref : {"--upload-pack=touch", "-x", "a..b", "@{1}", ".hidden", "a/.git", "a b",
                          "a\nb", "a~1", "a^{commit}", "a:b", "refs/../x", ""})
    EXPECT_FALSE(parse_locator(cat("github.com/a/b@", ref))) << ref;
  EXPECT_EQ(parse_locator("github.com/a\nerror: b/c").error().message.find('\n'),
            std::string::npos);
  for (const char* text : {"github.com/a-1/b_c.d", "github.com/a/.github", "github.com/a/b@v1.2-x"})
    EXPECT_TRUE(parse_locator(text)) << text;
}

}  // namespace
}  // namespace fettle
