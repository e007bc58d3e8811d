#pragma once
/// A lock that ends with its holder, however that ends: a file that is locked, not one that is
/// there. It holds between processes, containers and machines that share the file system.

#include <functional>
#include <optional>
#include <stop_token>

#include "base/file.h"
#include "base/time.h"

namespace fettle {

class LockFile {
 public:
  /// The lock; none when somebody else has it. The folder must exist, the file is made. Errors: it
  /// cannot be made, or the file system knows no locks.
  static Result<std::optional<LockFile>> take(const Path& path);
  /// Takes the lock as soon as nobody else has it, at most after `limit`, which may be `for_ever`.
  /// `on_wait` is called once if there is something to wait for. Errors: also if the limit is over
  /// or a stop was asked for.
  static Result<LockFile> await(const Path& path, Duration limit, const std::stop_token& stop,
                                const std::function<void()>& on_wait = {});
  /// Whether somebody has the lock. The question does not get in the way of those who want it.
  static Result<bool> is_taken(const Path& path);

  int descriptor() const { return file_.get(); }
  /// Takes the file away as well; the lock is held until then.
  void remove() &&;

 private:
  LockFile(Path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Path path_;
  Descriptor file_;
};

}  // namespace fettle
