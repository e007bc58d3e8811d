#include "base/closed_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

/// `secret` beside `repository`, which has files, and links of all sorts.
class ClosedFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    write("secret", "secret");
    write("repository/file", "file");
    write("repository/a/deep", "deep");
    write("repository/new\nline", "odd");
    link("file", "repository/near");
    link("../file", "repository/a/up");
    link("a", "repository/folder");
    link("folder/up", "repository/chain");
    link("../secret", "repository/out");
    link("/etc/passwd", "repository/absolute");
    link("a/../../secret", "repository/a_and_out");
    link("../..", "repository/a/outside");
    link("self", "repository/self");
    link("nothing", "repository/dangling");
    link("/proc/self/root", "repository/magic");
    for (int i = 0; i < 50; ++i)
      link(cat("many", i + 1), cat("repository/many", i));
    write("repository/many50", "many");
    ASSERT_EQ(mkfifo(at("repository/pipe").c_str(), 0600), 0);
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at("repository/socket").copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_directories(Path(at(name)).parent_path()));
    ASSERT_TRUE(write_file(at(name), text));
  }
  void link(const std::string& target, const std::string& name) {
    ASSERT_EQ(symlink(target.c_str(), at(name).c_str()), 0);
  }
  /// What a path leads to: its text, or the `errno`; by the kernel and by walking, which agree.
  std::string opened(const std::string& path, Links links = Links::followed_inside) {
    const Descriptor root(::open(at("repository").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const auto told = [](const Descriptor& file) -> std::string {
      if (!file.is_open())
        return strerrorname_np(errno);
      std::array<char, 100> text{};
      const ssize_t size = ::read(file.get(), text.data(), text.size());
      return size < 0 ? strerrorname_np(errno)
                      : std::string(text.data(), static_cast<size_t>(size));
    };
    const std::string by_kernel = told(open_beneath(root, path, links, O_RDONLY | O_NONBLOCK));
    const std::string by_walk = told(walk_beneath(root, path, links, O_RDONLY | O_NONBLOCK));
    EXPECT_EQ(by_kernel, by_walk) << path;
    return by_walk;
  }
  std::string error(const std::string& path) {
    const auto text = folder().read(path, 1000);
    return text ? "read: " + *text : text.error().message;
  }
  ClosedFolder folder() const { return ClosedFolder(at("repository")); }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(ClosedFolderTest, WhatIsInsideIsOpened) {
  for (const auto& [path, text] :
       std::vector<std::pair<std::string, std::string>>{{"file", "file"},
                                                        {"./a//deep", "deep"},
                                                        {"a/../file", "file"},
                                                        {"near", "file"},
                                                        {"a/up", "file"},
                                                        {"folder/deep", "deep"},
                                                        {"folder/../file", "file"},
                                                        {"chain", "file"},
                                                        {"new\nline", "odd"},
                                                        {"many20", "many"}})
    EXPECT_EQ(opened(path), text) << path;
}

TEST_F(ClosedFolderTest, NothingLeadsOutside) {
  for (const char* path : {"../secret", "..", "a/../../secret", "a/../..", "/etc/passwd", "out",
                           "absolute", "a_and_out", "a/outside/secret", "folder/outside/secret",
                           "magic/etc/passwd", "../repository/file"})
    EXPECT_EQ(opened(path), "EXDEV") << path;
}

TEST_F(ClosedFolderTest, WhatCannotBeOpenedSaysWhy) {
  EXPECT_EQ(opened("self"), "ELOOP");
  EXPECT_EQ(opened("many0"), "ELOOP");
  EXPECT_EQ(opened("dangling"), "ENOENT");
  EXPECT_EQ(opened("nothing"), "ENOENT");
  EXPECT_EQ(opened("file/deep"), "ENOTDIR");
  EXPECT_EQ(opened("file/.."), "ENOTDIR");
  EXPECT_EQ(opened("file/"), "ENOTDIR");
  EXPECT_EQ(opened(std::string(300, 'x')), "ENAMETOOLONG");
  EXPECT_EQ(opened(std::string(5000, 'x')), "ENAMETOOLONG");
  EXPECT_EQ(opened(std::string("a\0b", 3)), "EINVAL");
}

TEST_F(ClosedFolderTest, LinksCanBeRefused) {
  for (const char* path : {"near", "folder/deep", "a/up", "chain"})
    EXPECT_EQ(opened(path, Links::refused), "ELOOP") << path;
  EXPECT_EQ(opened("a/deep", Links::refused), "deep");
}

TEST_F(ClosedFolderTest, OnlyFilesAreRead) {
  EXPECT_EQ(error("chain"), "read: file");
  EXPECT_EQ(error("out"), "`out` leads outside");
  EXPECT_EQ(error("a"), "`a` is a folder, a file is expected");
  EXPECT_EQ(error("pipe"), "`pipe` is neither a file nor a folder");
  EXPECT_EQ(error("socket"), "`socket` is neither a file nor a folder");
  EXPECT_EQ(error("nothing"), "`nothing` does not exist");
  EXPECT_EQ(error("self"), "`self` is a link that leads nowhere");
  EXPECT_EQ(error("a\nerror: b"), "`a\\nerror: b` does not exist");
  write("repository/large", std::string(2000, 'x'));
  EXPECT_EQ(error("large"), "`large` is larger than 1000 bytes");
}

TEST_F(ClosedFolderTest, APathIsLocatedWithoutLinks) {
  const auto located = [&](const std::string& path) {
    const auto found = folder().locate(path);
    return found ? found->string().substr(at("repository").size()) : found.error().message;
  };
  EXPECT_EQ(located(""), "");
  EXPECT_EQ(located("folder"), "/a");
  EXPECT_EQ(located("folder/deep"), "/a/deep");
  EXPECT_EQ(located("chain"), "/chain") << "a link to a file keeps its name";
  EXPECT_EQ(located("folder/../chain"), "/chain");
  EXPECT_EQ(located("out"), "`out` leads outside");
  EXPECT_EQ(located("pipe"), "`pipe` is neither a file nor a folder");
}

TEST_F(ClosedFolderTest, NamesBesideAPathAreTold) {
  EXPECT_EQ(folder().names_beside("a/dep"), (std::vector<std::string>{"deep", "outside", "up"}));
  EXPECT_EQ(folder().names_beside("folder/dep"), folder().names_beside("a/dep"));
  EXPECT_TRUE(folder().names_beside("a/outside/x").empty());
  EXPECT_TRUE(folder().names_beside("magic/etc/x").empty());
  EXPECT_TRUE(folder().has_file("near"));
  EXPECT_FALSE(folder().has_file("out"));
  EXPECT_TRUE(folder().has_folder("folder"));
  EXPECT_FALSE(folder().has_folder("a/outside"));
}

}  // namespace
}  // namespace fettle
