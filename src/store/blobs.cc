#include "store/blobs.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

Error broken(std::string_view doing, const std::string& path, const std::error_code& why) {
  return world_error(cat("cannot ", doing, " `", path, "`: ", why.message()));
}

}  // namespace

std::string FolderBlobs::place_of(std::string_view digest) const {
  return cat(folder_, "/", digest.substr(0, 2), "/", digest.substr(2));
}

Result<std::string> FolderBlobs::put_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return world_error(cat("cannot read `", path, "`"));
  Sha256 hash;
  std::string piece(1 << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    hash.add(std::string_view(piece).substr(0, static_cast<size_t>(file.gcount())));
  const std::string digest = hash.hex();
  const std::string place = place_of(digest);
  std::error_code failure;
  fs::create_directories(fs::path(place).parent_path(), failure);
  if (failure)
    return broken("make the folder of", place, failure);
  fs::rename(path, place, failure);
  if (failure == std::errc::cross_device_link) {
    // Copied beside its place first, so that a file that is there is whole.
    const std::string beside = place + ".new";
    fs::copy_file(path, beside, fs::copy_options::overwrite_existing, failure);
    if (!failure)
      fs::rename(beside, place, failure);
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  if (failure)
    return broken("move a blob to", place, failure);
  return digest;
}

Result<std::string> FolderBlobs::put(std::string_view bytes) {
  static std::atomic<unsigned> count{0};
  std::error_code failure;
  fs::create_directories(folder_, failure);
  const std::string beside = cat(folder_, "/new-", getpid(), "-", count++);
  {
    std::ofstream file(beside, std::ios::binary);
    errno = 0;
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      const std::string why = errno == ENOSPC ? "the disk is full" : std::strerror(errno);
      fs::remove(beside, failure);
      return world_error(cat("cannot write `", beside, "`: ", why));
    }
  }
  return put_file(beside);
}

Result<std::string> FolderBlobs::path(std::string_view digest) const {
  const bool plain =
      digest.size() == 64 && digest.find_first_not_of("0123456789abcdef") == digest.npos;
  const std::string place = plain ? place_of(digest) : std::string();
  std::error_code failure;
  if (!plain || !fs::exists(place, failure))
    return world_error(
        cat("the content `", digest, "` is not among the artifacts of this machine"));
  fs::last_write_time(place, fs::file_time_type::clock::now(), failure);  // asked for now
  return place;
}

Result<size_t> FolderBlobs::collect(const std::set<std::string>& used, Duration grace) {
  size_t deleted = 0;
  const auto latest = fs::file_time_type::clock::now() - grace;
  std::error_code failure;
  for (const auto& entry : fs::recursive_directory_iterator(folder_, failure)) {
    if (!entry.is_regular_file(failure))
      continue;
    const std::string digest =
        entry.path().parent_path().filename().string() + entry.path().filename().string();
    if (!used.contains(digest) && fs::last_write_time(entry.path(), failure) <= latest &&
        fs::remove(entry.path(), failure))
      ++deleted;
  }
  return deleted;
}

}  // namespace fettle
