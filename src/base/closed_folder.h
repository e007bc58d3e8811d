#pragma once
/// A folder that somebody else filled, and out of which nothing leads: not `..`, not an absolute
/// path, not a link, and not a file that is swapped for a link while it is read. Links that stay
/// inside are followed.
///
///     const ClosedFolder repository(path);
///     const std::string text = TRY(repository.read("lib/main.star", 64 << 20));
///
/// A package comes from a repository that anybody may have written. It says which files it wants,
/// and git brings its links as they are: `lib -> /etc` is a file of the repository, and
/// `read_file("lib/shadow")` would show a secret of the machine. The obvious way is to make the
/// path plain (`realpath`), to compare its beginning with that of the folder, and then to open it.
/// That is two looks at a file system that others change: between them a folder becomes a link, and
/// what is opened is not what was compared. To refuse all links is safe, and refuses repositories
/// that work elsewhere.
///
/// So the path is never judged as a text. The folder is opened once, and the kernel resolves the
/// rest beneath it (`openat2` with `RESOLVE_BENEATH`), in the call that opens the file. Old
/// kernels, and some sandboxes, do not have that call. There `walk_beneath` goes step by step: it
/// holds a descriptor of each folder on its way, opens each step relative to the last without
/// following links, and reads links itself. A `..` drops the last descriptor, so nobody can move
/// what is above.
///
/// Invariants:
/// * No step leaves the folder: each is taken from a folder that was reached from the root.
/// * An absolute path, an absolute link and a `..` out of the root are refused, even if they would
///   lead back inside.
/// * `open` and `read` give regular files only. A device, a socket or a pipe is an error, and none
///   of them holds up the caller. `read` gives no more than its limit, even if the file grows
///   meanwhile.
/// * More than 40 links on one path are an error.
/// * `locate` gives a path, and no promise: a caller that opens that path later opens whatever is
///   there then.
/// * Hard links and mounts are parts of the folder. Nothing can tell a hard link from the file.

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
  /// The bytes of a file. Error: there are more than `limit`.
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

/// Whether links on the way are followed.
enum class Links { followed_inside, refused };

/// Like `openat`, but nothing leads out of `root`. If the descriptor is not open, `errno` is set:
/// `EXDEV` for a path that leads outside, `ELOOP` for a link that is refused. An empty path means
/// `root`.
Descriptor open_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode = 0);
/// The same without openat2. `real` gets the path without links, as far as it was walked.
Descriptor walk_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode = 0, std::string* real = nullptr);

}  // namespace fettle
