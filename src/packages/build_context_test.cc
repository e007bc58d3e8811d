#include "packages/build_context.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/archive.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

class BuildContexts : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text, unsigned mode = 0644) {
    fs::create_directories((root() / path).parent_path());
    ASSERT_TRUE(write_file(root() / path, text, mode));
  }
  Path root() const { return folder_->path(); }

  /// What the tar holds, in its order.
  std::vector<std::string> packed(const std::string& file = "Dockerfile") {
    const auto context = BuildContext::of(root(), file, "FROM a\n");
    EXPECT_TRUE(context) << to_string(context.error());
    std::string tar;
    const auto parts = context->pack(sink_to(tar, SIZE_MAX));
    EXPECT_TRUE(parts) << to_string(parts.error());
    parts_ = *parts;
    tar_ = tar;
    std::vector<std::string> names;
    ArchiveReader reader(source_of(tar), {.links_may_leave = true});
    for (auto entry = reader.next(); entry && *entry; entry = reader.next())
      names.push_back((*entry)->path);
    return names;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  std::map<std::string, std::string> parts_;
  std::string tar_;
};

using Names = std::vector<std::string>;

TEST_F(BuildContexts, LeavesOutWhatIsIgnored) {
  write("Dockerfile", "FROM something else\n");
  write("src/a.c", "a");
  write("src/secret/key", "k");
  write("logs/today", "l");
  write(".dockerignore", "logs\nsrc/secret\n!logs/keep\nDockerfile\n.dockerignore\n");
  EXPECT_EQ(packed(), (Names{"src", "src/a.c", "Dockerfile"}));
  // What was read, not what stands there now.
  EXPECT_NE(tar_.find("FROM a\n"), std::string::npos);
  EXPECT_EQ(tar_.find("something else"), std::string::npos);
  write("logs/keep", "x");
  EXPECT_EQ(packed(), (Names{"logs", "logs/keep", "src", "src/a.c", "Dockerfile"}));
}

TEST_F(BuildContexts, TheRulesOfADockerfileComeFirst) {
  write("build/web", "FROM a\n");
  write("build/web.dockerignore", "*.md\n");
  write(".dockerignore", "*\n");
  write("a.md", "a");
  write("b.txt", "b");
  EXPECT_EQ(packed("build/web"), (Names{"b.txt", "build", "build/web.dockerignore", "build/web"}));
}

TEST_F(BuildContexts, NamesThePartThatChanged) {
  write("Dockerfile", "FROM a\n");
  write("one.txt", "1");
  write("two.txt", "2");
  static_cast<void>(packed());
  const auto before = parts_;
  const std::string bytes = tar_;
  EXPECT_EQ(before.size(), 3u);
  // The same with another time.
  fs::last_write_time(root() / "one.txt", fs::file_time_type::clock::now() - std::chrono::hours(9));
  static_cast<void>(packed());
  EXPECT_EQ(tar_, bytes);
  write("two.txt", "3");
  static_cast<void>(packed());
  EXPECT_EQ(parts_.at("one.txt"), before.at("one.txt"));
  EXPECT_NE(parts_.at("two.txt"), before.at("two.txt"));
  write("two.txt", "2", 0755);
  static_cast<void>(packed());
  EXPECT_NE(parts_.at("two.txt"), before.at("two.txt"));
}

TEST_F(BuildContexts, ManyFilesAreTakenTogether) {
  for (int i = 0; i < 300; ++i)
    write(cat("many/", i), "x");
  write("few", "y");
  static_cast<void>(packed());
  EXPECT_EQ(parts_.size(), 3u);
  EXPECT_TRUE(parts_.contains("many"));
  EXPECT_TRUE(parts_.contains("few"));
  EXPECT_TRUE(parts_.contains("Dockerfile"));
}

TEST_F(BuildContexts, LinksStayLinks) {
  write("Dockerfile", "FROM a\n");
  fs::create_symlink("/etc/passwd", root() / "link");
  EXPECT_EQ(packed(), (Names{"link", "Dockerfile"}));
  EXPECT_EQ(tar_.find("root:"), std::string::npos);
}

TEST_F(BuildContexts, RefusesWhatIsTooLarge) {
  write("Dockerfile", "FROM a\n");
  write("huge", "");
  fs::resize_file(root() / "huge", 10'000'000'001);  // a hole: it takes no room
  const auto context = BuildContext::of(root(), "Dockerfile", "FROM a\n");
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().blame, Blame::user);
  EXPECT_NE(context.error().message.find("more than 10 GB (`huge` is the largest file)"),
            std::string::npos)
      << context.error().message;
  write(".dockerignore", "#" + std::string(70'000, 'x') + "\nhuge\n");
  EXPECT_FALSE(BuildContext::of(root(), "Dockerfile", "FROM a\n"));
  write(".dockerignore", "huge\n");
  EXPECT_TRUE(BuildContext::of(root(), "Dockerfile", "FROM a\n"));
}

}  // namespace
}  // namespace fettle
