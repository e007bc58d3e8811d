#include "base/lock_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

constexpr Duration pause = 20ms;

/// The whole file, of this open file and not of the process: two locks in one process differ.
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// The former holder may have removed the file between our opening and our locking it.
bool is_still_there(int file, const Path& path) {
  struct stat ours{}, there{};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

Result<std::optional<LockFile>> LockFile::take(const Path& path) {
  while (true) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open())
      return file_error("cannot open", path);
    struct flock lock = whole_file();
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES)
        return std::optional<LockFile>();
      return file_error("cannot lock", path);
    }
    if (is_still_there(file.get(), path))
      return std::optional(LockFile(path, std::move(file)));
  }
}

Result<LockFile> LockFile::await(const Path& path, Duration limit, const std::stop_token& stop,
                                 const std::function<void()>& on_wait) {
  const auto began = std::chrono::steady_clock::now();
  for (bool told = false;; told = true) {
    if (std::optional<LockFile> lock = TRY(take(path)))
      return *std::move(lock);
    if (!told && on_wait)
      on_wait();
    if (limit >= 0s && std::chrono::steady_clock::now() - began >= limit)
      return world_error(cat("another process holds the lock `", path.string(), "`; waited for ",
                             to_string(limit)));
    TRY(pause_for(pause, stop));
  }
}

Result<bool> LockFile::is_taken(const Path& path) {
  // Reading is enough for the question, and the file system may be read-only.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open())
    return errno == ENOENT ? Result<bool>(false) : file_error("cannot open", path);
  struct flock lock = whole_file();
  if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0)
    return file_error("cannot find out who holds the lock of", path);
  return lock.l_type != F_UNLCK;
}

void LockFile::remove() && {
  unlink(path_.c_str());
  file_.close();
}

}  // namespace fettle
