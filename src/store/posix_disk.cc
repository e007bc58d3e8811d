#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"

namespace fettle {
namespace {

class PosixFile : public Disk::File {
 public:
  PosixFile(Descriptor file, Path path) : file_(std::move(file)), path_(std::move(path)) {}
  Status write(std::string_view bytes) override { return write_sparsely(file_, bytes, path_); }
  Status sync() override {
    return fdatasync(file_.get()) == 0 ? Status() : Status(file_error("cannot sync", path_));
  }

 private:
  Descriptor file_;
  Path path_;
};

class PosixDisk : public Disk {
 public:
  Result<std::unique_ptr<File>> create(const Path& path) override {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open())
      return file_error("cannot create", path);
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(file), path));
  }
  Status rename(const Path& from, const Path& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status()
                                                   : Status(file_error("cannot move to", to));
  }
  Status make_folder(const Path& path) override { return make_directories(path); }
  Status sync_folder(const Path& path) override {
    const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open() || fsync(folder.get()) != 0)
      return file_error("cannot sync", path);
    return {};
  }
  Result<std::optional<uint64_t>> size(const Path& path) override {
    struct stat about{};
    if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
      return std::optional(static_cast<uint64_t>(about.st_size));
    if (errno != ENOENT && errno != ENOTDIR && errno != 0)
      return file_error("cannot look at", path);
    return std::optional<uint64_t>();
  }
  Result<ByteSource> read(const Path& path) override { return source_of_file(path); }
  Status remove(const Path& path) override {
    return unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR
               ? Status()
               : Status(file_error("cannot remove", path));
  }
  Result<std::vector<std::string>> list(const Path& path) override {
    std::vector<std::string> names;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(path, failure))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace

std::unique_ptr<Disk> make_posix_disk() { return std::make_unique<PosixDisk>(); }

}  // namespace fettle
