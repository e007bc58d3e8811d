#include "base/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/text.h"

namespace fettle {
namespace {

std::string number(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i, value >>= 8)
    bytes += static_cast<char>(value & 255);
  return bytes;
}

std::string deflated(std::string_view text) {
  std::string packed(compressBound(text.size()) + 16, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct File {
  std::string path, text;
  bool is_packed = true;
};

/// A zip archive; `flags` are those of every file.
std::string zip_of(const std::vector<File>& files, unsigned flags = 0) {
  std::string bytes, table;
  for (const File& file : files) {
    const std::string packed = file.is_packed ? deflated(file.text) : file.text;
    const uint64_t sum =
        crc32_z(0, reinterpret_cast<const Bytef*>(file.text.data()), file.text.size());
    const std::string facts =
        cat(number(20, 2), number(flags, 2), number(file.is_packed ? 8 : 0, 2), number(0, 4),
            number(sum, 4), number(packed.size(), 4), number(file.text.size(), 4),
            number(file.path.size(), 2));
    table +=
        cat("PK\x01\x02", number(20, 2), facts, number(0, 12), number(bytes.size(), 4), file.path);
    bytes += cat("PK\x03\x04", facts, number(0, 2), file.path, packed);
  }
  return cat(bytes, table, "PK\x05\x06", number(0, 4), number(files.size(), 2),
             number(files.size(), 2), number(table.size(), 4), number(bytes.size(), 4),
             number(0, 2));
}

std::string message_of(const std::string& bytes, const ArchiveLimits& limits = {}) {
  const auto files = files_of_zip(bytes, limits);
  return files ? cat(files->size(), " files") : to_string(files.error());
}

TEST(Zip, FilesAreFoundByTheirPaths) {
  const std::string long_text(100'000, 'x');
  const auto files = *files_of_zip(zip_of({{"a.sls", "a: b\n"},
                                           {"dir/", "", false},
                                           {"dir/./b.sls", "stored", false},
                                           {"long", long_text},
                                           {"empty", ""}}),
                                   {});
  EXPECT_EQ(files,
            (std::map<std::string, std::string>{
                {"a.sls", "a: b\n"}, {"dir/b.sls", "stored"}, {"long", long_text}, {"empty", ""}}));
  EXPECT_EQ(message_of(zip_of({}) + std::string(100, ' ')), "0 files");
}

TEST(Zip, BothSortsOfArchivesAreKnownByTheirBytes) {
  EXPECT_EQ(files_of_archive(zip_of({{"a", "x"}}), {})->at("a"), "x");
  EXPECT_EQ(files_of_archive(*pack_files({{"d/a", "y"}}), {})->at("d/a"), "y");
  EXPECT_FALSE(files_of_archive("neither of them", {}));
}

TEST(Zip, WhatLeadsOutOrIsTooLargeIsRefused) {
  EXPECT_NE(message_of(zip_of({{"../a", "x"}})).find("../a"), std::string::npos);
  EXPECT_NE(message_of(zip_of({{"/etc/a", "x"}})).find("/etc/a"), std::string::npos);
  EXPECT_EQ(message_of(zip_of({{"a", std::string(1000, 'x')}}), {.bytes = 999}),
            "reading `a`: the archive holds more than 999 bytes");
  EXPECT_EQ(message_of(zip_of({{"a", ""}, {"b", ""}}), {.entries = 1}),
            "the archive has more than 1 entries");
  EXPECT_EQ(message_of(zip_of({{"a", "x"}}, 1)), "reading `a`: it is encrypted");
}

TEST(Zip, EveryDamageIsAnErrorOrChangesNothing) {
  const std::string good = zip_of({{"a", "some text that is packed"}, {"b", "another", false}});
  const auto expected = *files_of_zip(good, {});
  for (size_t i = 0; i < good.size(); ++i)
    for (const int change : {1, 128, 255}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto files = files_of_zip(bytes, {.bytes = 1 << 20});
      if (!files)
        continue;
      for (const auto& [path, text] : *files) {
        EXPECT_TRUE(text == expected.at("a") || text == expected.at("b")) << i;
      }
    }
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(files_of_zip(std::string_view(good).substr(0, size), {})) << size;
}

}  // namespace
}  // namespace fettle
