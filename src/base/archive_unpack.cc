// The parts of archive.h that write to a disk and that decompress.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/archive.h"
#include "base/closed_folder.h"
#include "base/text.h"

namespace fettle {
namespace {

/// Opens below `root` without going through any link.
Descriptor open_inside(const Descriptor& root, std::string_view path, int flags,
                       unsigned mode = 0) {
  return open_beneath(root, path, Links::refused, flags, mode);
}

/// Writes entries below one folder.
class Unpacker {
 public:
  Unpacker(Descriptor root, Path name) : root_(std::move(root)), name_(std::move(name)) {}

  Status place(const ArchiveEntry& entry, ArchiveReader& reader) {
    links_.erase(entry.path);  // of two of one name the last one counts
    const auto [parent, name] = split(entry.path);
    const Descriptor folder = TRY(open_folder(parent));
    switch (entry.type) {
      case ArchiveEntry::Type::directory:
        return make_folder(folder, name, entry);
      case ArchiveEntry::Type::symlink:
        links_[entry.path] = entry.target;
        return {};
      case ArchiveEntry::Type::hardlink:
        return copy(entry, folder, name);
      case ArchiveEntry::Type::file:
        return write(folder, name, entry, [&](std::span<char> into) { return reader.read(into); });
    }
    return {};
  }

  /// Makes the links, of which none was there while something was written.
  Status finish() {
    for (const auto& [path, target] : links_) {
      const auto [parent, name] = split(path);
      const Descriptor folder = TRY(open_folder(parent));
      unlinkat(folder.get(), name.c_str(), 0);
      if (symlinkat(target.c_str(), folder.get(), name.c_str()) != 0)
        return file_error("cannot unpack", name_ / path);
    }
    return {};
  }

 private:
  /// The folder and the name in it.
  static std::pair<std::string, std::string> split(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? std::pair(std::string(), path)
                              : std::pair(path.substr(0, slash), path.substr(slash + 1));
  }

  Error failed(const ArchiveEntry& entry) const {
    return file_error("cannot unpack", name_ / entry.path);
  }

  /// The folder at `path`, made with those above it where they are missing.
  Result<Descriptor> open_folder(const std::string& path) {
    Descriptor folder = open_inside(root_, path, O_RDONLY | O_DIRECTORY);
    for (size_t end = 0; !folder.is_open() && errno == ENOENT && end != path.npos;) {
      end = path.find('/', end + 1);
      const std::string part = path.substr(0, end);
      const size_t slash = part.rfind('/');
      const Descriptor above = open_inside(root_, slash == part.npos ? "" : part.substr(0, slash),
                                           O_RDONLY | O_DIRECTORY);
      mkdirat(above.get(), part.substr(slash == part.npos ? 0 : slash + 1).c_str(), 0755);
      folder = open_inside(root_, path, O_RDONLY | O_DIRECTORY);
    }
    if (!folder.is_open())
      return file_error("cannot unpack into", name_ / path);
    return folder;
  }

  Status make_folder(const Descriptor& folder, const std::string& name, const ArchiveEntry& entry) {
    const unsigned mode = entry.mode | 0700;
    if (mkdirat(folder.get(), name.c_str(), mode) == 0)
      return {};
    const Descriptor there = open_inside(folder, name, O_RDONLY | O_DIRECTORY);
    if (!there.is_open() || fchmod(there.get(), mode) != 0)
      return failed(entry);
    return {};
  }

  Status write(const Descriptor& folder, const std::string& name, const ArchiveEntry& entry,
               const ByteSource& content) {
    unlinkat(folder.get(), name.c_str(), 0);  // never write through what is there
    const Descriptor file = open_inside(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file.is_open())
      return failed(entry);
    TRY(pump(content,
             [&](std::string_view bytes) { return write_sparsely(file, bytes, entry.path); }));
    if (fchmod(file.get(), entry.mode & 0777) != 0)
      return failed(entry);
    return {};
  }

  Status copy(const ArchiveEntry& entry, const Descriptor& folder, const std::string& name) {
    if (const auto link = links_.find(entry.target); link != links_.end()) {
      links_[entry.path] = link->second;
      return {};
    }
    const Descriptor original = open_inside(root_, entry.target, O_RDONLY);
    struct stat about{};
    if (!original.is_open() || fstat(original.get(), &about) != 0 || !S_ISREG(about.st_mode))
      return user_error(cat("the link `", entry.path, "` names `", entry.target,
                            "`, which is not in the archive"));
    ArchiveEntry as_file = entry;
    as_file.mode = about.st_mode & 0777;
    return write(folder, name, as_file, [&](std::span<char> into) -> Result<size_t> {
      const ssize_t count = ::read(original.get(), into.data(), into.size());
      if (count < 0)
        return failed(entry);
      return static_cast<size_t>(count);
    });
  }

  Descriptor root_;
  Path name_;
  std::map<std::string, std::string> links_;  ///< target by path
};

/// Looks at the first two bytes, then either passes on or inflates.
class Gunzip {
 public:
  explicit Gunzip(ByteSource source) : source_(std::move(source)) {}
  ~Gunzip() {
    if (compressed_)
      inflateEnd(&stream_);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  Result<size_t> read(std::span<char> into) {
    if (!looked_)
      TRY(look());
    if (compressed_)
      return inflate_some(into);
    if (at_ == size_)
      return source_(into);
    const size_t count = std::min(into.size(), size_ - at_);
    std::memcpy(into.data(), buffer_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  Status look() {
    looked_ = true;
    while (size_ < 2) {
      const size_t count = TRY(source_(std::span(buffer_).subspan(size_)));
      if (count == 0)
        return {};
      size_ += count;
    }
    compressed_ = buffer_[0] == '\x1f' && buffer_[1] == '\x8b';
    if (compressed_ && inflateInit2(&stream_, 15 + 16) != Z_OK)  // 16: gzip's header
      return world_error("cannot decompress");
    return {};
  }

  Result<size_t> inflate_some(std::span<char> into) {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(into.size(), 1U << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && !ended_) {
      if (!TRY(has_input()))
        return world_error("the compressed data are truncated");
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + at_);
      stream_.avail_in = static_cast<uInt>(size_ - at_);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      at_ = size_ - stream_.avail_in;
      if (code == Z_STREAM_END)
        TRY(next_member());
      else if (code != Z_OK && code != Z_BUF_ERROR)
        return world_error("the compressed data are damaged");
    }
    return static_cast<size_t>(wanted - stream_.avail_out);
  }

  Result<bool> has_input() {
    if (at_ == size_) {
      at_ = 0;
      size_ = TRY(source_(buffer_));
    }
    return size_ > 0;
  }

  /// Another member follows, or padding, which is read to the end: the source may check itself
  /// there.
  Status next_member() {
    if (TRY(has_input()) && buffer_[at_] == '\x1f') {
      inflateReset(&stream_);
      return {};
    }
    ended_ = true;
    while (TRY(has_input()))
      at_ = size_;
    return {};
  }

  ByteSource source_;
  std::array<char, 64 * 1024> buffer_;
  size_t at_ = 0, size_ = 0;
  bool looked_ = false, compressed_ = false, ended_ = false;
  z_stream stream_{};
};

}  // namespace

Status unpack(const ByteSource& source, const Path& folder, const ArchiveLimits& limits) {
  TRY(make_directories(folder));
  Descriptor root(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open())
    return file_error("cannot open", folder);
  Unpacker unpacker(std::move(root), folder);
  ArchiveReader reader(source, limits);
  while (true) {
    const std::optional<ArchiveEntry> entry = TRY(reader.next());
    if (!entry)
      return unpacker.finish();
    TRY(unpacker.place(*entry, reader));
  }
}

ByteSource gunzip_if_compressed(ByteSource source) {
  auto gunzip = std::make_shared<Gunzip>(std::move(source));
  return [gunzip](std::span<char> into) { return gunzip->read(into); };
}

}  // namespace fettle
