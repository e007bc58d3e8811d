#include "states/sources.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace fettle::states {
namespace {

using Map = std::map<std::string, std::string>;

/// `ref name` of a file, or what was said.
std::string shown(const Result<std::optional<SourceFile>>& found) {
  if (!found)
    return found.error().message;
  return *found ? cat((*found)->ref, " ", (*found)->name) : "nothing";
}

struct Fixture {
  Fixture(Map map, std::vector<std::string> specs, std::vector<std::string> words)
      : files(files_of(std::move(map))), sources(Sources::make(specs, words, *files)) {}
  std::string root(std::string_view word) { return shown(sources->root(word)); }
  std::string included(std::string_view ref, std::string_view word) {
    return shown(sources->included(ref, **sources->root(word)));
  }
  std::unique_ptr<Files> files;
  Result<Sources> sources;
};

TEST(Sources, RefsAreFoundInOrder) {
  Fixture f({{"r1/y.sls", ""},
             {"r2/x.sls", ""},
             {"r2/y.sls", ""},
             {"r2/a/b.sls", ""},
             {"r2/a/c/init.sls", ""}},
            {"file://r1", "r2"}, {"x", "y", "a.b", "a.c", "nope"});
  EXPECT_EQ(f.root("x"), "x r2/x.sls");
  EXPECT_EQ(f.root("y"), "y r1/y.sls");
  EXPECT_EQ(f.root("a.b"), "a.b r2/a/b.sls");
  EXPECT_EQ(f.root("a.c"), "a.c.init r2/a/c/init.sls");
  EXPECT_EQ(f.root("nope"), "nothing");
  EXPECT_EQ(f.included("y", "x"), "y r1/y.sls");
  EXPECT_EQ(f.included("a/b", "x"), "a.b r2/a/b.sls");
  EXPECT_EQ(f.included("x.sls", "x"), "x.sls r2/x.sls");
}

TEST(Sources, AFolderMayHoldAllThereIs) {
  const auto place = TemporaryDirectory::make();
  const Path top = place->path() / "copies", outside = place->path() / "outside.sls";
  ASSERT_TRUE(make_directories(top));
  ASSERT_TRUE(write_file(top / "in.sls", "in"));
  ASSERT_TRUE(write_file(outside, "out"));
  std::filesystem::create_symlink(outside, top / "link.sls");
  std::filesystem::create_symlink("in.sls", top / "other.sls");
  const std::unique_ptr<Files> all = disk_files(), some = disk_files(top.string());
  EXPECT_EQ(**all->read(outside.string()), "out");
  EXPECT_EQ(**some->read((top / "in.sls").string()), "in");
  EXPECT_EQ(**some->read((top / "other.sls").string()), "in");
  for (const Path& path : {outside, top / "link.sls", top / ".." / "outside.sls"})
    EXPECT_FALSE(*some->read(path.string())) << path;
  EXPECT_TRUE(some->is_folder(top.string()));
  EXPECT_FALSE(some->is_folder(place->path().string()));
  EXPECT_FALSE(some->is_folder("/etc"));
}

TEST(Sources, StandardInputIsInTheWorkingFolder) {
  Fixture f({{"/dev/stdin", "a: {}"}, {"b.sls", ""}}, {}, {"-"});
  EXPECT_EQ(f.root("-"), "<stdin> <stdin>");
  EXPECT_EQ(f.included("b", "-"), "b b.sls");
  EXPECT_EQ(f.included(".b", "-"), "b b.sls");
}

TEST(Sources, RelativeRefsStartAtTheFolderOfTheFile) {
  Fixture f({{"r/sub/b.sls", ""},
             {"r/sub/c.sls", ""},
             {"r/d.sls", ""},
             {"r/sub/s2/init.sls", ""},
             {"r/sub/s2/e.sls", ""},
             {"e.sls", ""}},
            {"r"}, {"sub.b", "sub.s2"});
  EXPECT_EQ(f.included(".c", "sub.b"), "sub.c r/sub/c.sls");
  EXPECT_EQ(f.included("..d", "sub.b"), "d r/d.sls");
  EXPECT_EQ(f.included(".e", "sub.s2"), "sub.s2.e r/sub/s2/e.sls");
  EXPECT_EQ(f.included("..c", "sub.s2"), "sub.c r/sub/c.sls");
  EXPECT_EQ(
      f.included("...e", "sub.b"),
      "Attempted relative include of \"...e\" within SLS sub.b goes beyond top level package");
}

TEST(Sources, AFileOnTheCommandLineMakesItsFolderASource) {
  Fixture f({{"main.sls", "m"},
             {"z.sls", ""},
             {"sub/x.sls", ""},
             {"sub/y.sls", ""},
             {"sub/z.sls", ""},
             {"r1/z.sls", ""},
             {"r1/main.sls", ""},
             {"d.sls", ""},
             {"/abs/b.sls", ""},
             {"/abs/c.sls", ""},
             {"foo.yaml", ""}},
            {"r1"}, {"./main.sls", "sub/x.sls", "/abs/b.sls", "foo.yaml"});
  EXPECT_EQ(f.root("./main.sls"), "main.sls main.sls");
  EXPECT_EQ(f.root("sub/x.sls"), "sub.x sub/x.sls");
  EXPECT_EQ(f.root("/abs/b.sls"), "abs.b /abs/b.sls");
  EXPECT_EQ(f.root("foo.yaml"), "foo.yaml foo.yaml");
  EXPECT_EQ(f.included("z", "./main.sls"), "z z.sls");
  EXPECT_EQ(f.included(".y", "sub/x.sls"), "sub.y sub/y.sls");
  EXPECT_EQ(f.included("..d", "sub/x.sls"), "d d.sls");
  EXPECT_EQ(f.included(".c", "/abs/b.sls"), "abs.c /abs/c.sls");
}

TEST(Sources, WithoutSourcesRefsAreLookedForHere) {
  Fixture f({{"foo.sls", ""}, {"sub/b.sls", ""}, {"sub/c.sls", ""}, {"r1/init.sls", ""}}, {},
            {"foo", "sub/b", "sub.c", "r1", ""});
  EXPECT_EQ(f.root("foo"), "foo foo.sls");
  EXPECT_EQ(f.root("sub/b"), "sub.b sub/b.sls");
  EXPECT_EQ(f.root("sub.c"), "sub.c sub/c.sls");
  EXPECT_EQ(f.root("r1"), "r1.init r1/init.sls");
  EXPECT_EQ(f.root(""), "nothing");
}

TEST(Sources, ArchivesAndJson) {
  const std::string tar = *pack_files({{"a/b.sls", "text"}, {"init.sls", ""}});
  Fixture f({{"o.tar", tar}},
            {"tar://o.tar", R"(json://{"x": {"z": {"t.f": []}, "include": ["y"]}, "y.sls": {}})"},
            {"a.b", "x", "y"});
  EXPECT_EQ(f.root("a.b"), "a.b o.tar/a/b.sls");
  EXPECT_EQ(*(*f.sources->root("a.b"))->text, "text");
  EXPECT_EQ(*(*f.sources->root("x"))->text, R"({"z":{"t.f":[]},"include":["y"]})");
  EXPECT_EQ(f.root("y"), "y json:y.sls");
}

TEST(Sources, WhatIsNoneIsToldBeforeAnythingIsRead) {
  const auto error_of = [](const std::string& spec) {
    return Fixture({{"o.zip", "junk"}}, {spec}, {}).sources.error().message;
  };
  EXPECT_EQ(error_of("nope"), "the source `nope` is neither a folder nor an archive");
  EXPECT_EQ(error_of("flie://x"),
            "the source `flie://x` has an unknown scheme, did you mean `file`?");
  EXPECT_NE(error_of("o.zip").find("the source `o.zip` cannot be read: "), std::string::npos);
  EXPECT_EQ(error_of("json://[1]"), "a source `json://` must be a dictionary from refs to files");
  EXPECT_NE(error_of("json://{").find("invalid JSON"), std::string::npos);
  EXPECT_EQ(error_of("file://"), "the source `file://` has no path");
}

TEST(Sources, NoRefAndNoPathLeadsOut) {
  Fixture f({{"r/x.sls", ""}, {"secret.sls", ""}, {"/etc/passwd.sls", ""}, {"r/t.j2", "T"}}, {"r"},
            {"x"});
  for (const char* ref :
       {"../secret", "/etc/passwd", "a/../../secret", "..", ".", "", "../secret.sls"})
    EXPECT_NE(f.included(ref, "x"), "secret secret.sls") << ref;
  EXPECT_EQ(f.included("/etc/passwd", "x"), "nothing");
  EXPECT_FALSE(f.sources->at_path("../secret.sls"));
  EXPECT_FALSE(f.sources->at_path("/etc/passwd.sls"));
  EXPECT_EQ(shown(f.sources->at_path("t.j2")), "t.j2 r/t.j2");
  EXPECT_EQ(shown(f.sources->at_path("none")), "nothing");
}

TEST(Sources, FilesOfThisMachine) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_file(folder->path() / "a.sls", "x"));
  const auto files = disk_files();
  EXPECT_EQ(*files->read((folder->path() / "a.sls").string()), "x");
  EXPECT_EQ(*files->read((folder->path() / "b.sls").string()), std::nullopt);
  EXPECT_EQ(*files->read(folder->path().string()), std::nullopt);
  EXPECT_TRUE(files->is_folder(folder->path().string()));
  EXPECT_FALSE(files->read("/dev/zero"));
  EXPECT_EQ(*read_all(**files->open((folder->path() / "a.sls").string()), 10), "x");
  EXPECT_FALSE(files->open((folder->path() / "b.sls").string())->has_value());
  EXPECT_FALSE(files->open(folder->path().string())->has_value());
  const auto device = files->open("/dev/zero");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message, "`/dev/zero` is no regular file, so it cannot be copied");
}

TEST(Sources, OnlyAShortTextOfAContentIsKept) {
  const std::string largest(SourceContent::largest_text, 'x');
  Fixture f({{"r/main.sls", ""},
             {"r/text", "\u00e4\n"},
             {"r/bytes", "\xff\xfe"},
             {"r/largest", largest},
             {"r/larger", largest + "x"}},
            {"r"}, {});
  const auto content = [&](std::string_view path) { return *f.sources->content_at(path); };
  ASSERT_NE(content("text")->text, nullptr);
  EXPECT_EQ(*content("text")->text, "\u00e4\n");
  EXPECT_EQ(content("bytes")->text, nullptr);
  EXPECT_EQ(content("bytes")->digest, sha256_hex("\xff\xfe"));
  EXPECT_EQ(*read_all(*content("bytes")->open(), 10), "\xff\xfe");
  ASSERT_NE(content("largest")->text, nullptr);
  EXPECT_EQ(*content("largest")->text, largest);
  EXPECT_EQ(content("larger")->text, nullptr);
  EXPECT_EQ(content("larger")->digest, sha256_hex(largest + "x"));
  EXPECT_EQ(content("none"), nullptr);
  EXPECT_FALSE(f.sources->content_at("../text"));
}

TEST(Sources, AContentMayBeInAnArchiveAndMayGo) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const std::string place = (folder->path() / "bytes").string();
  ASSERT_TRUE(write_file(place, "\xff"));
  const auto files = disk_files();
  const std::vector<std::string> specs{folder->path().string()};
  Result<Sources> sources = Sources::make(specs, {}, *files);
  const auto content = *sources->content_at("bytes");
  ASSERT_TRUE(write_file(place, "\xff\xff"));
  EXPECT_EQ(*read_all(*content->open(), 10), "\xff\xff");
  ASSERT_TRUE(std::filesystem::remove(place));
  EXPECT_NE(content->open().error().message.find("has gone while it was being copied"),
            std::string::npos);
}

TEST(Sources, RefsOfRequisites) {
  EXPECT_TRUE(is_ref_of("web", "web"));
  EXPECT_TRUE(is_ref_of("main", "main.sls"));
  EXPECT_TRUE(is_ref_of("sub", "sub.init"));
  EXPECT_FALSE(is_ref_of("we", "web"));
}

}  // namespace
}  // namespace fettle::states
