#include "store/reserve.h"

#include <algorithm>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "store/sqlite.h"

namespace fettle {
namespace {

/// The removal of a large environment writes about this much before the store's log is copied.
constexpr uint64_t most_bytes = uint64_t{4} << 20;
/// The removal of a small one writes about this much.
constexpr uint64_t least_bytes = uint64_t{1} << 17;
/// The part of a small disk that it may take.
constexpr uint64_t share = 4;

std::string file_in(const std::string& folder) { return folder + "/reserve"; }

uint64_t free_bytes(const std::string& folder) {
  struct statvfs about{};
  return statvfs(folder.c_str(), &about) == 0 ? uint64_t{about.f_bavail} * about.f_frsize : 0;
}

/// 0: there is none.
uint64_t bytes_kept(const std::string& folder) {
  struct stat about{};
  return stat(file_in(folder).c_str(), &about) == 0 ? static_cast<uint64_t>(about.st_size) : 0;
}

void make(const std::string& folder, uint64_t bytes) {
  const std::string path = file_in(folder);
  unlink(path.c_str());
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() >= 0 && posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) != 0)
    unlink(path.c_str());
}

/// Copies the log. After that, its space is reused. If that fails, there is less room, and the
/// writer reports it.
void copy_log(const std::string& path) {
  if (!file_exists(path))
    return;
  if (const auto store = Sqlite::open(path))
    static_cast<void>((*store)->execute("PRAGMA wal_checkpoint"));
}

}  // namespace

uint64_t reserve_of(uint64_t room) {
  const uint64_t bytes = std::min(room / share, most_bytes);
  return bytes < least_bytes ? 0 : bytes;
}

void keep_reserve(const std::string& folder) {
  const uint64_t kept = bytes_kept(folder);
  if (kept >= most_bytes)
    return;
  const uint64_t wanted = reserve_of(free_bytes(folder) + kept);
  // A little more room is no reason to create it again.
  if (wanted > 0 && wanted >= 2 * kept)
    make(folder, wanted);
}

ReserveUse::ReserveUse(std::string folder) : folder_(std::move(folder)) {
  is_low_ = free_bytes(folder_) < most_bytes;
  if (!is_low_)
    return;
  unlink(file_in(folder_).c_str());
  copy_log(folder_ + "/fettle.db");
}

ReserveUse::~ReserveUse() {
  if (is_low_)
    keep_reserve(folder_);
}

}  // namespace fettle
