#include "store/reserve.h"

#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

namespace fettle {
namespace {

/// Removing a large environment writes about as much before it is checkpointed.
constexpr uint64_t reserve_bytes = uint64_t{4} << 20;
constexpr uint64_t plenty = 4 * reserve_bytes;

std::string file_in(const std::string& folder) { return folder + "/reserve"; }

uint64_t free_bytes(const std::string& folder) {
  struct statvfs about{};
  return statvfs(folder.c_str(), &about) == 0 ? uint64_t{about.f_bavail} * about.f_frsize : 0;
}

bool is_there(const std::string& folder) {
  struct stat about{};
  return stat(file_in(folder).c_str(), &about) == 0;
}

void make(const std::string& folder) {
  const std::string path = file_in(folder);
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() >= 0 && posix_fallocate(file.get(), 0, off_t{reserve_bytes}) != 0)
    unlink(path.c_str());
}

}  // namespace

void keep_reserve(const std::string& folder) {
  if (!is_there(folder) && free_bytes(folder) >= plenty)
    make(folder);
}

ReserveUse::ReserveUse(std::string folder) : folder_(std::move(folder)) {
  if (!is_there(folder_) || free_bytes(folder_) >= reserve_bytes)
    return;
  is_used_ = unlink(file_in(folder_).c_str()) == 0;
}

ReserveUse::~ReserveUse() {
  if (is_used_)
    make(folder_);
}

}  // namespace fettle
