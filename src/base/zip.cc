#include "base/zip.h"

#include <zlib.h>

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view end_mark = "PK\x05\x06", entry_mark = "PK\x01\x02",
                           file_mark = "PK\x03\x04";
constexpr size_t end_size = 22, entry_size = 46, file_size = 30, longest_comment = 65'535;
constexpr uint32_t in_64_bit_form = 0xFFFFFFFF;
constexpr unsigned encrypted = 1, stored = 0, deflated = 8;

Error damaged(std::string_view why) { return world_error(cat("the archive is damaged: ", why)); }

/// The entry of a file in the table at the end of the archive.
struct ZipEntry {
  std::string path;
  unsigned flags = 0, method = 0;
  uint32_t checksum = 0, packed = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const ArchiveLimits& limits) : bytes_(bytes), limits_(limits) {}

  Result<std::map<std::string, std::string>> files() {
    size_t at = TRY(find_table());
    std::map<std::string, std::string> found;
    for (size_t i = 0; i < entries_; ++i) {
      const ZipEntry entry = TRY(read_entry(at));
      if (entry.path.ends_with('/'))
        continue;
      std::string content = TRY(unpacked(entry).context(cat("reading `", entry.path, "`")));
      found.insert_or_assign(TRY(inner_path(entry.path)), std::move(content));
    }
    return found;
  }

 private:
  uint32_t number(size_t at, size_t size) const {
    uint32_t value = 0;
    for (size_t i = size; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  bool is_at(size_t at, std::string_view mark, size_t size) const {
    return at <= bytes_.size() && bytes_.size() - at >= size && bytes_.substr(at).starts_with(mark);
  }

  /// The beginning of the table of files, which stands before the end of the archive and its
  /// comment.
  Result<size_t> find_table() {
    const size_t first = bytes_.size() - std::min(bytes_.size(), end_size + longest_comment);
    const size_t end = bytes_.rfind(end_mark);
    if (end == bytes_.npos || end < first || !is_at(end, end_mark, end_size))
      return damaged("it has no end record");
    entries_ = number(end + 10, 2);
    if (number(end + 4, 2) != 0 || number(end + 8, 2) != entries_)
      return world_error("the archive has several volumes");
    const uint32_t offset = number(end + 16, 4);
    if (offset == in_64_bit_form)
      return world_error("the archive has the 64 bit form, which is not read");
    if (entries_ > limits_.entries)
      return world_error(cat("the archive has more than ", limits_.entries, " entries"));
    return size_t{offset};
  }

  Result<ZipEntry> read_entry(size_t& at) const {
    if (!is_at(at, entry_mark, entry_size))
      return damaged("its table is truncated");
    ZipEntry entry;
    entry.flags = number(at + 8, 2);
    entry.method = number(at + 10, 2);
    entry.checksum = number(at + 16, 4);
    entry.packed = number(at + 20, 4);
    entry.size = number(at + 24, 4);
    entry.offset = number(at + 42, 4);
    const size_t name = number(at + 28, 2);
    if (!is_at(at, entry_mark, entry_size + name))
      return damaged("its table is truncated");
    entry.path = bytes_.substr(at + entry_size, name);
    at += entry_size + name + number(at + 30, 2) + number(at + 32, 2);
    return entry;
  }

  Result<std::string> unpacked(const ZipEntry& entry) {
    if ((entry.flags & encrypted) != 0)
      return world_error("it is encrypted");
    if (entry.method != stored && entry.method != deflated)
      return world_error(cat("its compression ", entry.method, " is not known"));
    bytes_taken_ += entry.size;
    if (bytes_taken_ > limits_.bytes)
      return world_error(cat("the archive holds more than ", limits_.bytes, " bytes"));
    if (!is_at(entry.offset, file_mark, file_size))
      return damaged("it is not where the table says");
    const size_t begin = size_t{entry.offset} + file_size + number(entry.offset + 26, 2) +
                         number(entry.offset + 28, 2);
    if (begin > bytes_.size() || bytes_.size() - begin < entry.packed)
      return damaged("it is truncated");
    const std::string_view packed = bytes_.substr(begin, entry.packed);
    std::string content =
        entry.method == stored ? std::string(packed) : TRY(inflated(packed, entry.size));
    const uLong checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    if (content.size() != entry.size || checksum != entry.checksum)
      return damaged("its checksum differs");
    return content;
  }

  static Result<std::string> inflated(std::string_view packed, size_t size) {
    std::string content(size + 1, '\0');  // one more shows what is too long
    z_stream stream{};
    if (inflateInit2(&stream, -15) != Z_OK)  // without a header
      return world_error("cannot decompress");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.data());
    stream.avail_out = static_cast<uInt>(content.size());
    const int code = inflate(&stream, Z_FINISH);
    content.resize(stream.total_out);
    inflateEnd(&stream);
    if (code != Z_STREAM_END)
      return damaged("it cannot be decompressed");
    return content;
  }

  std::string_view bytes_;
  const ArchiveLimits& limits_;
  size_t entries_ = 0;
  uint64_t bytes_taken_ = 0;
};

Result<std::map<std::string, std::string>> files_of_tar(std::string bytes,
                                                        const ArchiveLimits& limits) {
  ArchiveReader reader(source_of(std::move(bytes)), limits);
  std::map<std::string, std::string> found;
  const ByteSource content = [&](std::span<char> into) { return reader.read(into); };
  while (true) {
    const std::optional<ArchiveEntry> entry = TRY(reader.next());
    if (!entry)
      return found;
    if (entry->type == ArchiveEntry::Type::file)
      found.insert_or_assign(entry->path, TRY(read_all(content, limits.bytes)));
  }
}

}  // namespace

Result<std::map<std::string, std::string>> files_of_zip(std::string_view bytes,
                                                        const ArchiveLimits& limits) {
  return ZipReader(bytes, limits).files();
}

Result<std::map<std::string, std::string>> files_of_archive(std::string bytes,
                                                            const ArchiveLimits& limits) {
  if (bytes.starts_with(file_mark) || bytes.starts_with(end_mark))
    return files_of_zip(bytes, limits);
  return files_of_tar(std::move(bytes), limits);
}

}  // namespace fettle
