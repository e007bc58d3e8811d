#pragma once
/// A folder that somebody else filled, and out of which nothing leads: not `..`, not an absolute
/// path, not a link, and not a file that is swapped for a link while it is read. Links that stay
/// inside are followed.
///
///   const ClosedFolder repository(path);
///   const std::string text = TRY(repository.read("lib/main.star", 64 << 20));
///
/// The kernel keeps the promise (openat2); where it cannot, the path is walked step by step.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace fettle {

class ClosedFolder {
 public:
  explicit ClosedFolder(Path path) : path_(std::move(path)) {}
  const Path& path() const { return path_; }

  /// A file's descriptor, for reading. Errors (`Blame::user`): nothing is there, it leads outside,
  /// it is a folder, a device, a pipe or a socket.
  Result<Descriptor> open(std::string_view inside) const;
  /// Its bytes. An error when there are more than `limit`.
  Result<std::string> read(std::string_view inside, size_t limit) const;
  /// The path of a file or folder without links in it, but for the last step of a file: a link to a
  /// file keeps its name. Errors as `open`.
  Result<Path> locate(std::string_view inside) const;
  bool has_file(std::string_view inside) const;
  bool has_folder(std::string_view inside) const;
  /// Names of what stands beside `inside`, itself included if it is there; none when its folder
  /// leads outside.
  std::vector<std::string> names_beside(std::string_view inside) const;

 private:
  Path path_;
};

/// What becomes of links on the way.
enum class Links { followed_inside, refused };

/// As `openat`, but nothing leads out of `root`. A descriptor that is not open leaves `errno`:
/// `EXDEV` for what leads outside, `ELOOP` for a link that is refused. An empty path is `root`.
Descriptor open_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode = 0);
/// The same without openat2. `real` gets the path without links, as far as it was walked.
Descriptor walk_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode = 0, std::string* real = nullptr);

}  // namespace fettle
