#include "base/archive.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/process.h"

namespace fettle {
namespace {

std::string archive_of(const std::vector<std::pair<ArchiveEntry, std::string>>& entries) {
  std::string bytes;
  ArchiveWriter writer(sink_to(bytes, SIZE_MAX));
  for (const auto& [entry, content] : entries)
    EXPECT_TRUE(writer.add(entry, source_of(content)));
  EXPECT_TRUE(writer.finish());
  return bytes;
}

ArchiveEntry file(std::string path, size_t size) {
  ArchiveEntry entry;
  entry.path = std::move(path);
  entry.size = size;
  return entry;
}

ArchiveEntry link(ArchiveEntry::Type type, std::string path, std::string target) {
  ArchiveEntry entry;
  entry.path = std::move(path);
  entry.type = type;
  entry.target = std::move(target);
  return entry;
}

ArchiveEntry symlink_to(std::string path, std::string target) {
  return link(ArchiveEntry::Type::symlink, std::move(path), std::move(target));
}

std::string unpacked(const std::string& bytes, const Path& folder) {
  const Status done = unpack(source_of(bytes), folder);
  return done ? "" : done.error().message;
}

TEST(Archive, WhatIsPackedIsUnpacked) {
  const auto folder = TemporaryDirectory::make();
  const std::string long_path = std::string(90, 'a') + "/" + std::string(120, 'b');
  const std::string longer = std::string(200, 'c') + "/" + std::string(200, 'd');
  const std::string content(1'000'000, 'x');
  const std::string bytes = archive_of({{file("plain", 5), "hello"},
                                        {file(long_path, content.size()), content},
                                        {file(longer, 3), "abc"},
                                        {symlink_to("here", "plain"), ""}});
  ASSERT_EQ(unpacked(bytes, folder->path()), "");
  EXPECT_EQ(*read_file(folder->path() / "plain"), "hello");
  EXPECT_EQ(*read_file(folder->path() / long_path), content);
  EXPECT_EQ(*read_file(folder->path() / longer), "abc");
  EXPECT_EQ(*read_file(folder->path() / "here"), "hello");
}

TEST(Archive, TheSameTreeGivesTheSameBytes) {
  const auto a = TemporaryDirectory::make(), b = TemporaryDirectory::make();
  const auto packed = [](const Path& root) {
    std::string bytes;
    EXPECT_TRUE(pack_tree(root, sink_to(bytes, SIZE_MAX)));
    return bytes;
  };
  for (const Path& root : {a->path() / "d", b->path() / "d"})
    ASSERT_TRUE(make_directories(root));
  ASSERT_TRUE(write_file(a->path() / "1", "one", 0600));
  ASSERT_TRUE(write_file(a->path() / "2", "two"));
  ASSERT_TRUE(write_file(b->path() / "2", "two"));
  ASSERT_TRUE(write_file(b->path() / "1", "one", 0600));
  EXPECT_EQ(packed(a->path()), packed(b->path()));
  ASSERT_TRUE(write_file(b->path() / "1", "one", 0640));
  EXPECT_NE(packed(a->path()), packed(b->path()));
  ASSERT_TRUE(write_file(b->path() / "1", "one", 0600));
  std::filesystem::permissions(b->path() / "d", std::filesystem::perms(0700));
  EXPECT_NE(packed(a->path()), packed(b->path()));
}

TEST(Archive, NothingIsWrittenOutside) {
  const auto folder = TemporaryDirectory::make();
  const Path inside = folder->path() / "inside";
  EXPECT_EQ(unpacked(archive_of({{file("../x", 1), "x"}}), inside),
            "the path `../x` leads outside");
  EXPECT_EQ(unpacked(archive_of({{file("/x", 1), "x"}}), inside), "the path `/x` is absolute");
  EXPECT_EQ(unpacked(archive_of({{symlink_to("l", "/etc"), ""}}), inside),
            "the link `l` leads outside, to `/etc`");
  EXPECT_EQ(unpacked(archive_of({{symlink_to("a/l", "../../x"), ""}}), inside),
            "the link `a/l` leads outside, to `../../x`");
  EXPECT_EQ(unpacked(archive_of({{symlink_to("q", "d/../../x"), ""}}), inside),
            "the link `q` leads outside, to `d/../../x`");
  EXPECT_EQ(unpacked(archive_of({{link(ArchiveEntry::Type::hardlink, "h", "../x"), ""}}), inside),
            "the path `../x` leads outside");
  EXPECT_FALSE(file_exists(folder->path() / "x"));
}

TEST(Archive, LinksThatAreThereAreNotFollowed) {
  const auto folder = TemporaryDirectory::make();
  const Path inside = folder->path() / "inside", outside = folder->path() / "outside";
  ASSERT_TRUE(make_directories(inside));
  ASSERT_TRUE(make_directories(outside));
  std::filesystem::create_directory_symlink(outside, inside / "way");
  EXPECT_NE(unpacked(archive_of({{file("way/x", 1), "x"}}), inside), "");
  EXPECT_FALSE(file_exists(outside / "x"));
  // A link to a file is replaced, not written through.
  ASSERT_TRUE(write_file(outside / "victim", "before"));
  std::filesystem::create_symlink(outside / "victim", inside / "file");
  EXPECT_EQ(unpacked(archive_of({{file("file", 5), "after"}}), inside), "");
  EXPECT_EQ(*read_file(outside / "victim"), "before");
  EXPECT_EQ(*read_file(inside / "file"), "after");
}

TEST(Archive, LinksOfAnyTargetAreMadeLastAndNeverFollowed) {
  const auto folder = TemporaryDirectory::make();
  const Path inside = folder->path() / "inside", outside = folder->path() / "outside";
  ASSERT_TRUE(make_directories(outside));
  const auto any = [&](const std::string& bytes) {
    const Status done = unpack(source_of(bytes), inside, {.links_may_leave = true});
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(any(archive_of({{symlink_to("etc/mtab", "/proc/mounts"), ""},
                            {link(ArchiveEntry::Type::hardlink, "second", "etc/mtab"), ""},
                            {file("etc/passwd", 1), "x"}})),
            "");
  EXPECT_EQ(std::filesystem::read_symlink(inside / "etc/mtab"), "/proc/mounts");
  EXPECT_EQ(std::filesystem::read_symlink(inside / "second"), "/proc/mounts");
  EXPECT_EQ(*read_file(inside / "etc/passwd"), "x");
  // Through a link of the same archive, or of an earlier one, nothing is written.
  EXPECT_NE(any(archive_of({{symlink_to("way", outside.string()), ""}, {file("way/x", 1), "x"}})),
            "");
  EXPECT_EQ(any(archive_of({{symlink_to("door", outside.string()), ""}})), "");
  EXPECT_NE(any(archive_of({{file("door/x", 1), "x"}})), "");
  EXPECT_NE(any(archive_of({{symlink_to("door/l", "x"), ""}})), "");
  EXPECT_TRUE(std::filesystem::is_empty(outside));
  // A file that comes after a link of its name is a file, and the other way round.
  EXPECT_EQ(any(archive_of({{symlink_to("a", "/etc/passwd"), ""},
                            {file("a", 5), "after"},
                            {file("b", 1), "x"},
                            {symlink_to("b", "a"), ""}})),
            "");
  EXPECT_FALSE(std::filesystem::is_symlink(inside / "a"));
  EXPECT_EQ(*read_file(inside / "b"), "after");
}

TEST(Archive, SizesAreBounded) {
  const std::string bytes = archive_of(
      {{file("a", 600), std::string(600, 'a')}, {file("b", 600), std::string(600, 'b')}});
  const auto count = [&](ArchiveLimits limits) {
    ArchiveReader reader(source_of(bytes), limits);
    int found = 0;
    while (true) {
      const auto entry = reader.next();
      if (!entry)
        return -1;
      if (!*entry)
        return found;
      ++found;
    }
  };
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({.bytes = 1000}), -1);
  EXPECT_EQ(count({.entries = 1}), -1);
}

/// The archive's first header as one of another type.
std::string of_type(std::string bytes, char type) {
  constexpr size_t type_at = 156, checksum_at = 148, header = 512;
  bytes[type_at] = type;
  std::fill_n(bytes.begin() + checksum_at, 8, ' ');
  unsigned sum = 0;
  for (const char c : bytes.substr(0, header))
    sum += static_cast<unsigned char>(c);
  std::snprintf(&bytes[checksum_at], 8, "%06o", sum);
  return bytes;
}

TEST(Archive, DevicesPipesAndSparseFilesAreRefused) {
  const auto folder = TemporaryDirectory::make();
  const std::string bytes = archive_of({{file("a", 0), ""}});
  for (const auto& [type, what] : std::map<char, std::string>{{'3', "a device"},
                                                              {'4', "a device"},
                                                              {'6', "a pipe"},
                                                              {'S', "something special"},
                                                              {'D', "something special"},
                                                              {'M', "something special"}})
    EXPECT_EQ(unpacked(of_type(bytes, type), folder->path()),
              "`a` in the archive is " + what + ", neither file, folder nor link")
        << type;
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST(Archive, HeadersWithoutEndAreRefused) {
  // A name that claims to be longer than a megabyte, then short ones again and again.
  const auto folder = TemporaryDirectory::make();
  EXPECT_EQ(unpacked(of_type(archive_of({{file("a", 2 << 20), std::string(2 << 20, 'x')}}), 'L'),
                     folder->path()),
            "the archive has a header of more than a megabyte");
  const std::string one =
      of_type(archive_of({{file("a", 1), "x"}}), 'L').substr(0, 1024);  // no end behind it
  std::string bytes;
  for (int i = 0; i < 20; ++i)
    bytes += one;
  ArchiveReader reader(source_of(bytes), {.entries = 10});
  EXPECT_EQ(reader.next().error().message, "the archive has more than 10 entries");
}

TEST(Archive, DamageIsToldAndNothingElse) {
  const std::string bytes = archive_of({{file("a", 600), std::string(600, 'a')}});
  const auto folder = TemporaryDirectory::make();
  EXPECT_EQ(unpacked(bytes.substr(0, 700), folder->path()), "the archive is truncated");
  std::string damaged = bytes;
  damaged[3] = 'x';
  EXPECT_EQ(unpacked(damaged, folder->path()), "the archive is damaged: a checksum is wrong");
}

std::string gzipped(std::string input) {
  std::string compressed(compressBound(input.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

TEST(Archive, GzipIsReadAsIfItWereNotThere) {
  const std::string compressed = gzipped(archive_of({{file("a", 5), "hello"}}));
  const auto folder = TemporaryDirectory::make();
  EXPECT_EQ(unpacked(compressed, folder->path()), "");
  EXPECT_EQ(*read_file(folder->path() / "a"), "hello");
  EXPECT_EQ(unpacked(compressed.substr(0, compressed.size() - 20), folder->path()),
            "the compressed data are truncated");
}

TEST(Archive, GzipOfSeveralMembersIsReadWhole) {
  const std::string bytes = archive_of({{file("a", 5), "hello"}});
  for (const size_t at : {size_t{1}, size_t{600}, bytes.size()}) {
    const auto folder = TemporaryDirectory::make();
    const std::string members = gzipped(bytes.substr(0, at)) + gzipped(bytes.substr(at));
    EXPECT_EQ(unpacked(members + std::string(100'000, '\0'), folder->path()), "");
    EXPECT_EQ(*read_file(folder->path() / "a"), "hello");
  }
}

TEST(Archive, ASourceThatFailsAtItsEndFails) {
  const std::string bytes = archive_of({{file("a", 5), "hello"}}) + std::string(100'000, '\0');
  for (const std::string& content : {bytes, gzipped(bytes)}) {
    const auto folder = TemporaryDirectory::make();
    const ByteSource inner = source_of(content);
    const ByteSource failing = [&](std::span<char> into) -> Result<size_t> {
      const size_t count = TRY(inner(into));
      return count > 0 ? Result<size_t>(count) : world_error("it is damaged");
    };
    const Status done = unpack(failing, folder->path());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "it is damaged");
  }
}

TEST(Archive, TarReadsOursAndWeReadTars) {
  const auto folder = TemporaryDirectory::make();
  const std::string longer = std::string(200, 'c') + "/" + std::string(200, 'd');
  const std::string ours = archive_of({{file(longer, 3), "abc"}, {file("x", 2), "yz"}});
  Invocation list{.arguments = {"tar", "-tf", "-"}};
  list.input = ours;
  EXPECT_EQ(run_process(list, {})->output, longer + "\nx\n");

  ASSERT_TRUE(make_directories(folder->path() / "in" / std::string(200, 'c')));
  ASSERT_TRUE(write_file(folder->path() / "in" / longer, "abc"));
  const Path in = folder->path() / "in";
  for (const char* const format : {"gnu", "pax", "posix"}) {
    const auto made =
        run_process({.arguments = {"tar", "--format", format, "-C", in.string(), "-c", "."}}, {});
    ASSERT_TRUE(made);
    const Path out = folder->path() / format;
    EXPECT_EQ(unpacked(made->output, out), "") << format;
    EXPECT_EQ(*read_file(out / longer), "abc") << format;
  }
}

TEST(Archive, RepackingForgetsTimesAndOwners) {
  ArchiveEntry entry = file("top/a", 1);
  entry.time = 1'700'000'000;
  entry.uid = 1000;
  std::string repacked;
  EXPECT_EQ(
      *repack(source_of(archive_of({{entry, "x"}})), sink_to(repacked, SIZE_MAX), {.strip = 1}),
      1u);
  EXPECT_EQ(repacked, archive_of({{file("a", 1), "x"}}));
}

TEST(Archive, ItIsToldByItsBeginning) {
  EXPECT_TRUE(begins_archive(source_of(archive_of({{file("a", 1), "x"}}))));
  EXPECT_FALSE(begins_archive(source_of(std::string("a,b\n1,2\n"))));
  EXPECT_FALSE(begins_archive(source_of(std::string(4096, 'x'))));
  EXPECT_FALSE(begins_archive(source_of(std::string())));
}

}  // namespace
}  // namespace fettle
