#pragma once
/// One process at a time: a lock on a file, which the system gives back when its holder dies.

#include <functional>
#include <stop_token>

#include "base/file.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle {

class FileLock {
 public:
  /// Makes the file when it is not there; it stays. Waits for whoever has the lock, at most as
  /// long as `limit`, which may be `for_ever`; `on_wait` is told once that there is something to
  /// wait for. Errors: the limit is over, a stop was asked for.
  static Result<FileLock> take(const Path& file, Duration limit, const std::stop_token& stop,
                               const std::function<void()>& on_wait = {});

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace fettle
