#include "base/file_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

constexpr Duration pause = 20ms;

}  // namespace

Result<FileLock> FileLock::take(const Path& file, Duration limit, const std::stop_token& stop,
                                const std::function<void()>& on_wait) {
  Descriptor open(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!open.is_open())
    return file_error("cannot open the lock", file);
  const auto began = std::chrono::steady_clock::now();
  for (bool told = false; flock(open.get(), LOCK_EX | LOCK_NB) != 0; told = true) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return file_error("cannot lock", file);
    if (!told && on_wait)
      on_wait();
    if (limit >= 0s && std::chrono::steady_clock::now() - began >= limit)
      return world_error(cat("another process holds the lock `", file.string(), "`; waited for ",
                             to_string(limit)));
    TRY(pause_for(pause, stop));
  }
  return FileLock(std::move(open));
}

}  // namespace fettle
