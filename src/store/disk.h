#pragma once
/// The few file operations that must survive a power loss: a file's bytes survive once they are
/// synced, its name once its folder is. The simulator has a disk that forgets everything else.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"

namespace fettle {

class Disk {
 public:
  virtual ~Disk() = default;

  class File {
   public:
    virtual ~File() = default;
    virtual Status write(std::string_view bytes) = 0;
    virtual Status sync() = 0;
  };
  /// Creates a file. Error: it exists already.
  virtual Result<std::unique_ptr<File>> create(const Path& path) = 0;
  virtual Status rename(const Path& from, const Path& to) = 0;
  /// Makes the folder and those above it.
  virtual Status make_folder(const Path& path) = 0;
  virtual Status sync_folder(const Path& path) = 0;
  /// None: there is no such file.
  virtual Result<std::optional<uint64_t>> size(const Path& path) = 0;
  /// Of each, as `size`.
  virtual Result<std::vector<std::optional<uint64_t>>> sizes(std::span<const Path> paths) {
    std::vector<std::optional<uint64_t>> found;
    for (const Path& path : paths)
      found.push_back(TRY(size(path)));
    return found;
  }
  virtual Result<ByteSource> read(const Path& path) = 0;
  /// It is no error if nothing is there.
  virtual Status remove(const Path& path) = 0;
  /// The names of everything in a folder. Empty: there is no folder.
  virtual Result<std::vector<std::string>> list(const Path& path) = 0;
};

/// The disk of this machine.
std::unique_ptr<Disk> make_posix_disk();

}  // namespace fettle
