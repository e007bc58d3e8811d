#pragma once
/// Files and folders, with the path in every error.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace fettle {

using Path = std::filesystem::path;

/// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_;
};

/// `what `path`: reason` from `errno`.
Error file_error(std::string_view what, const Path& path);

Result<std::string> read_file(const Path& path);
/// Written beside the file and renamed over it, so that nobody ever sees half of it. The folder
/// must exist. An existing file loses its mode to `mode`.
Status write_file(const Path& path, std::string_view bytes, unsigned mode = 0644);
/// The same for bytes that come piece by piece: `fill` gets a sink for the pieces.
Status write_file(const Path& path, const std::function<Status(const ByteSink&)>& fill,
                  unsigned mode = 0644);
Result<Descriptor> open_to_read(const Path& path);
/// The file's bytes, read as they are pulled.
Result<ByteSource> source_of_file(const Path& path);
/// The same for an open file; `path` is for errors.
ByteSource source_of(Descriptor file, const Path& path);

/// Writes to a new file, at its end. Long runs of zeros take no room on the disk.
Status write_sparsely(const Descriptor& file, std::string_view bytes, const Path& path);

/// Writes what it is given to a new file, for its owner alone, until it is destroyed. An error
/// beyond `limit` bytes.
Result<ByteSink> sink_to_file(const Path& path, uint64_t limit);
Result<uint64_t> size_of_file(const Path& path);

Status make_directories(const Path& path);
/// Removes everything below, too. It is no error if nothing is there.
Status remove_tree(const Path& path);
bool file_exists(const Path& path);

/// A new folder in the system's place for such, removed with its owner.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> make(std::string_view prefix = "fettle-");
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const Path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(Path path) : path_(std::move(path)) {}
  Path path_;
};

struct TreeEntry {
  enum class Type { file, directory, symlink };
  std::string path;  ///< relative to the root, with `/`
  Type type = Type::file;
  unsigned mode = 0;  ///< permissions only
  uint64_t size = 0;
  std::string target;  ///< of a symlink
};

/// Everything below `root`, sorted by path; links are not followed, not even those that a folder
/// is swapped for meanwhile. Sockets, pipes and devices are errors.
Result<std::vector<TreeEntry>> list_tree(const Path& root);

}  // namespace fettle
