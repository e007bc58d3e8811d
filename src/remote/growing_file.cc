#include "remote/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"

namespace fettle {
namespace {

std::string beside(const std::string& path, std::string_view name) {
  return (Path(path).parent_path() / cat(".fettle-arriving.", name)).string();
}

}  // namespace

Status write_all(const Descriptor& file, std::string_view bytes, const std::string& shown) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return file_error("cannot write", shown);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Result<GrowingFile> GrowingFile::begin(const std::string& path, const std::string& shown) {
  GrowingFile file;
  file.path_ = path;
  file.shown_ = shown;
  const std::string folder = Path(path).parent_path().string();
  file.file_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.is_open() && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    file.name_ = beside(path, "new");
    static_cast<void>(unlink(file.name_.c_str()));
    file.file_ =
        Descriptor(::open(file.name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  }
  if (!file.is_open())
    return file_error("cannot write", shown);
  return file;
}

GrowingFile& GrowingFile::operator=(GrowingFile&& other) noexcept {
  drop();
  path_ = std::move(other.path_);
  shown_ = std::move(other.shown_);
  name_ = std::exchange(other.name_, std::string());
  file_ = std::move(other.file_);
  return *this;
}

Status GrowingFile::add(std::string_view bytes) { return write_all(file_, bytes, shown_); }

bool GrowingFile::name_it(const std::string& name) const {
  return linkat(AT_FDCWD, cat("/proc/self/fd/", file_.get()).c_str(), AT_FDCWD, name.c_str(),
                AT_SYMLINK_FOLLOW) == 0;
}

Status GrowingFile::finish(unsigned mode, Predecessor predecessor) {
  static_cast<void>(fchmod(file_.get(), mode));
  if (name_.empty()) {
    if (name_it(path_)) {
      file_.close();
      return {};
    }
    if (errno == EEXIST && predecessor == Predecessor::is_the_same) {
      drop();
      return {};
    }
    // A name that is taken cannot be linked to. If we die here, the next one who writes this file
    // takes the name in between.
    const std::string between = beside(path_, cat(std::hash<std::string>()(path_)));
    if (errno == EEXIST && (unlink(between.c_str()) == 0 || errno == ENOENT) && name_it(between))
      name_ = between;
    else
      return file_error("cannot write", shown_);
  }
  if (rename(name_.c_str(), path_.c_str()) != 0)
    return file_error("cannot write", shown_);
  name_.clear();
  file_.close();
  return {};
}

void GrowingFile::drop() {
  if (!name_.empty())
    static_cast<void>(unlink(std::exchange(name_, std::string()).c_str()));
  file_.close();
}

}  // namespace fettle
