#pragma once
/// Tar archives as streams. What is written is reproducible: the same files give the same bytes
/// (sorted, one time, one owner). What is read may come from anybody: no path and no link leads
/// out, devices are refused, sizes are bounded.
///
/// The format is ustar with pax headers for what does not fit, read also with GNU's long names and
/// gzip around it. It is written here and not with libarchive, whose chain of libraries is long
/// and of whose forty formats and filters we need one each.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace fettle {

/// The time of every entry that we write: 1980-01-01, the oldest that all formats have.
constexpr int64_t archive_time = 315'532'800;

struct ArchiveEntry {
  enum class Type { file, directory, symlink, hardlink };
  std::string path{};  ///< relative, with `/`, without one at the end
  Type type = Type::file;
  unsigned mode = 0644;
  uint64_t size = 0;     ///< of a file
  std::string target{};  ///< of a link; of a hardlink a path in the archive
  int64_t time = archive_time;
  unsigned uid = 0;
  unsigned gid = 0;
};

/// What stands in a tree as an entry that belongs to nobody in particular.
ArchiveEntry archived(const TreeEntry& found);

class ArchiveWriter {
 public:
  explicit ArchiveWriter(ByteSink sink) : sink_(std::move(sink)) {}
  /// `content` must give exactly `entry.size` bytes.
  Status add(const ArchiveEntry& entry, const ByteSource& content = {});
  Status add_file(std::string path, std::string_view bytes, unsigned mode = 0644);
  /// Nothing may be added afterwards.
  Status finish();

 private:
  Status pad(uint64_t size);
  ByteSink sink_;
};

struct PackOptions {
  std::string prefix{};  ///< put before every path, as `folder/`
  unsigned uid = 0;
  unsigned gid = 0;
  /// Paths that are left out, each asked for itself.
  std::function<bool(std::string_view path, bool is_folder)> leaves_out{};
};

/// Everything below `root` as an archive, with the permissions of its files and folders.
Status pack_tree(const Path& root, const ByteSink& sink, const PackOptions& options = {});
/// The files of a map from path to bytes, with the folders above them.
Result<std::string> pack_files(const std::map<std::string, std::string>& files);

struct ArchiveLimits {
  uint64_t bytes = uint64_t{64} << 30;
  size_t entries = 2'000'000;  ///< headers of long names count, too
  /// Symbolic links may have any target: for what is only looked into or given to a container.
  bool links_may_leave = false;
};

/// Gives the entries one after another.
class ArchiveReader {
 public:
  explicit ArchiveReader(ByteSource source, ArchiveLimits limits = {});
  /// The next entry, or none at the end, after which the source has been read to its end. What is
  /// left of the last one's content is skipped. Names
  /// `.` and empty are left out.
  Result<std::optional<ArchiveEntry>> next();
  /// Some of the current entry's content; 0 at its end.
  Result<size_t> read(std::span<char> into);

 private:
  Result<bool> read_block(std::span<char> block);
  Result<std::string> read_extra(uint64_t size);
  Status skip_content();
  Status read_to_end();
  Status check(ArchiveEntry& entry);

  ByteSource source_;
  ArchiveLimits limits_;
  uint64_t left_ = 0;     ///< of the content of the current entry
  uint64_t padding_ = 0;  ///< after it
  uint64_t bytes_ = 0;
  size_t headers_ = 0;
};

/// Writes the entries below `folder`, which is made. Owners are not kept. Nothing that is there is
/// followed out of it. Links are made after everything else, so that none is followed even when
/// `links_may_leave`: an entry below a link is an error.
Status unpack(const ByteSource& source, const Path& folder, const ArchiveLimits& limits = {});

struct RepackOptions {
  size_t strip = 0;                                     ///< leading components that paths lose
  std::function<bool(const std::string& path)> take{};  ///< asked with the stripped path; none: all
  PackOptions pack{};
};

/// Writes the same archive in our form: its entries in their order, without times, with one owner.
/// Returns how many entries were taken.
Result<size_t> repack(const ByteSource& source, const ByteSink& sink,
                      const RepackOptions& options = {});

/// The bytes of `source`, decompressed when they are gzip's.
ByteSource gunzip_if_compressed(ByteSource source);

/// Whether the bytes begin as an archive does.
bool begins_archive(ByteSource source);

/// `path` without `.` and double `/`; an error when it is absolute, has `..` or a zero byte.
Result<std::string> inner_path(std::string_view path);

}  // namespace fettle
