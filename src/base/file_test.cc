#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/largest_file.h"

namespace fettle {
namespace {

TEST(File, WhatIsWrittenIsReadAndReplacedAsAWhole) {
  const auto folder = TemporaryDirectory::make();
  const Path path = folder->path() / "a";
  ASSERT_TRUE(write_file(path, "one", 0600));
  EXPECT_EQ(*read_file(path), "one");
  ASSERT_TRUE(write_file(path, std::string(100'000, 'x'), 0755));
  EXPECT_EQ(read_file(path)->size(), 100'000u);
  struct stat about{};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0755u);
  EXPECT_EQ(list_tree(folder->path())->size(), 1u);  // no temporary file is left
}

TEST(File, WhoIsKilledWhileWritingLeavesNothing) {
  const auto folder = TemporaryDirectory::make();
  const Path path = folder->path() / "a";
  for (const char* before : {"", "kept"}) {
    if (*before != 0) {
      ASSERT_TRUE(write_file(path, before));
    }
    const pid_t child = fork();
    if (child == 0) {
      static_cast<void>(write_file(path, [](const ByteSink& write) -> Status {
        static_cast<void>(write(std::string(10'000, 'x')));
        raise(SIGKILL);
        return {};
      }));
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(list_tree(folder->path())->size(), *before == 0 ? 0u : 1u);
    EXPECT_EQ(read_file(path).value_or(""), before);
  }
}

TEST(File, ErrorsNameThePath) {
  EXPECT_EQ(read_file("/nowhere/x").error().message,
            "cannot open `/nowhere/x`: no such file or directory");
  EXPECT_EQ(write_file("/nowhere/x", "").error().message,
            "cannot create a file next to `/nowhere/x`: no such file or directory");
}

TEST(File, FilesOfUnknownSizeAreReadToTheEnd) {
  EXPECT_TRUE(read_file("/proc/self/status")->starts_with("Name:"));
  EXPECT_GT(std::stol(*read_file("/proc/sys/kernel/pid_max")), 300);
}

TEST(File, WhatIsLargerThanTheLimitIsNotRead) {
  const auto folder = TemporaryDirectory::make();
  const Path path = folder->path() / "large";
  ASSERT_TRUE(write_file(path, ""));
  std::filesystem::resize_file(path, largest_file + 1);
  const std::string limit = " is larger than 256 MB, the limit for a file";
  EXPECT_EQ(read_file(path).error().message, "`" + path.string() + "`" + limit);
  EXPECT_EQ(read_file("/dev/zero").error().message, "`/dev/zero`" + limit);
}

TEST(File, LongRunsOfZerosTakeNoRoom) {
  const TemporaryDirectory folder = *TemporaryDirectory::make();
  const std::string begin = "begin", zeros(8 << 20, '\0'), end = "end";
  const auto room = [](const Path& path) {
    struct stat about{};
    EXPECT_EQ(stat(path.c_str(), &about), 0);
    return about.st_blocks * 512;
  };
  const Path one = folder.path() / "one", other = folder.path() / "other";
  {
    const ByteSink sink = *sink_to_file(one, 64 << 20);
    for (const std::string& piece : {begin, zeros, end, zeros})
      EXPECT_TRUE(sink(piece));
  }
  EXPECT_EQ(read_file(one).value(), begin + zeros + end + zeros);
  EXPECT_LT(room(one), 1 << 20);
  EXPECT_TRUE(write_file(other, zeros + end));
  EXPECT_EQ(read_file(other).value(), zeros + end);
  EXPECT_LT(room(other), 1 << 20);
}

TEST(File, ATreeIsListedInOrderAndLinksAreNotFollowed) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(make_directories(folder->path() / "b/c"));
  ASSERT_TRUE(write_file(folder->path() / "b/c/file", "12345"));
  ASSERT_TRUE(write_file(folder->path() / "a", ""));
  std::filesystem::create_symlink("b", folder->path() / "link");
  const auto entries = list_tree(folder->path());
  ASSERT_TRUE(entries);
  std::vector<std::string> paths;
  for (const TreeEntry& entry : *entries)
    paths.push_back(entry.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"a", "b", "b/c", "b/c/file", "link"}));
  EXPECT_EQ((*entries)[3].size, 5u);
  EXPECT_EQ((*entries)[4].target, "b");
}

TEST(File, ATemporaryDirectoryGoesWithItsOwner) {
  Path path;
  {
    const auto folder = TemporaryDirectory::make();
    path = folder->path();
    ASSERT_TRUE(write_file(path / "a", "x"));
  }
  EXPECT_FALSE(file_exists(path));
}

}  // namespace
}  // namespace fettle
