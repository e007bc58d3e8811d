#include "base/closed_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr int most_links = 40;  ///< on one path, as the kernel has it
constexpr int most_races = 100;
constexpr size_t longest_path = 4096;

Descriptor failed(int code) {
  errno = code;
  return Descriptor();
}

/// One walk: the folders from the root to its present place, and the steps that are left.
class Walk {
 public:
  Walk(const Descriptor& root, std::string_view inside, Links links)
      : root_(root), links_(links), good_(inside.size() < longest_path) {
    put_in_front(inside);
  }

  /// Goes on to the last step but one; 0, or why not.
  int go() {
    if (!good_)
      return ENAMETOOLONG;
    while (!steps_.empty())
      if (const int code = step(); code != 0)
        return code;
    return 0;
  }

  int folder() const { return folders_.empty() ? root_.get() : folders_.back().get(); }
  const std::string& last() const { return last_; }  ///< empty: the folder itself
  std::string real() const {
    std::string path = join(names_, "/");
    if (!last_.empty())
      path += (path.empty() ? "" : "/") + last_;
    return path;
  }

 private:
  void put_in_front(std::string_view path) {
    std::vector<std::string> steps;
    for (const std::string_view step : split(path, '/'))
      if (!step.empty() && step != ".")
        steps.emplace_back(step);
    must_be_folder_ |= steps_.empty() && path.ends_with('/') && !steps.empty();
    steps_.insert(steps_.begin(), steps.begin(), steps.end());
  }

  int step() {
    if (!last_.empty())  // more steps behind a file
      return ENOTDIR;
    const std::string name = std::move(steps_.front());
    steps_.pop_front();
    if (name.find('\0') != name.npos)
      return EINVAL;
    if (name == "..") {
      if (folders_.empty())
        return EXDEV;
      folders_.pop_back();
      names_.pop_back();
      return 0;
    }
    Descriptor next(openat(folder(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool is_end = steps_.empty();
    if (!next.is_open() && !(errno == ENOENT && is_end))
      return errno;
    struct stat about{};
    if (next.is_open() && fstat(next.get(), &about) != 0)
      return errno;
    if (next.is_open() && S_ISLNK(about.st_mode))
      return follow(next);
    if (next.is_open() && S_ISDIR(about.st_mode)) {
      folders_.push_back(std::move(next));
      names_.push_back(name);
      return 0;
    }
    if (!is_end || must_be_folder_)
      return next.is_open() ? ENOTDIR : ENOENT;
    last_ = name;
    return 0;
  }

  int follow(const Descriptor& link) {
    std::array<char, longest_path> target;
    const ssize_t size = readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0)
      return errno;
    const std::string_view path(target.data(), static_cast<size_t>(size));
    if (links_ == Links::refused || ++followed_ > most_links)
      return ELOOP;
    if (path.empty() || path.starts_with('/'))
      return path.empty() ? ENOENT : EXDEV;
    put_in_front(path);
    return 0;
  }

  const Descriptor& root_;
  Links links_;
  bool good_;
  bool must_be_folder_ = false;
  int followed_ = 0;
  std::deque<std::string> steps_;
  std::vector<Descriptor> folders_;
  std::vector<std::string> names_;
  std::string last_;
};

Error explained(std::string_view inside, int code) {
  const std::string name = cat("`", printable(inside), "`");
  switch (code) {
    case EXDEV:
      return user_error(cat(name, " leads outside"));
    case ELOOP:
      return user_error(cat(name, " is a link that leads nowhere"));
    case ENOENT:
    case ENOTDIR:
      return user_error(cat(name, " does not exist"));
    case ENXIO:
      return user_error(cat(name, " is neither a file nor a folder"));
    default:
      return user_error(cat("cannot open ", name, ": ", lower_case(std::strerror(code))));
  }
}

Descriptor open_root(const Path& path) {
  return Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// The path's folder, and the rest.
std::pair<std::string_view, std::string_view> split_last(std::string_view inside) {
  while (inside.ends_with('/'))
    inside.remove_suffix(1);
  const size_t slash = inside.rfind('/');
  if (slash == inside.npos)
    return {{}, inside};
  return {inside.substr(0, slash), inside.substr(slash + 1)};
}

}  // namespace

Descriptor walk_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode, std::string* real) {
  if (inside.starts_with('/'))
    return failed(EXDEV);
  Walk walk(root, inside, links);
  const int code = walk.go();
  if (real != nullptr)
    *real = walk.real();
  if (code != 0)
    return failed(code);
  const std::string& last = walk.last();
  return Descriptor(openat(walk.folder(), last.empty() ? "." : last.c_str(),
                           flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

Descriptor open_beneath(const Descriptor& root, std::string_view inside, Links links, int flags,
                        unsigned mode) {
  const std::string path = inside.empty() ? "." : std::string(inside);
  if (path.find('\0') != path.npos)
    return failed(EINVAL);
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refused)
    how.resolve |= RESOLVE_NO_SYMLINKS;
  for (int i = 0; i < most_races; ++i) {
    const auto number =
        static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how));
    if (number >= 0)
      return Descriptor(number);
    if (errno != EAGAIN)  // somebody renamed what is above `..`
      break;
  }
  // Old kernels do not know the call, and some sandboxes forbid it.
  if (errno == ENOSYS || errno == EPERM || errno == EAGAIN)
    return walk_beneath(root, inside, links, flags, mode);
  return failed(errno);
}

Result<Descriptor> ClosedFolder::open(std::string_view inside) const {
  const Descriptor root = open_root(path_);
  if (!root.is_open())
    return file_error("cannot open", path_);
  // A pipe would hold us until somebody writes to it.
  Descriptor file = open_beneath(root, inside, Links::followed_inside, O_RDONLY | O_NONBLOCK);
  if (!file.is_open())
    return explained(inside, errno);
  struct stat about{};
  if (fstat(file.get(), &about) != 0)
    return explained(inside, errno);
  if (S_ISDIR(about.st_mode))
    return user_error(cat("`", printable(inside), "` is a folder, a file is expected"));
  if (!S_ISREG(about.st_mode))
    return explained(inside, ENXIO);
  return file;
}

Result<std::string> ClosedFolder::read(std::string_view inside, size_t limit) const {
  const Descriptor file = TRY(open(inside));
  const ByteSource source = [&](std::span<char> into) -> Result<size_t> {
    while (true) {
      const ssize_t count = ::read(file.get(), into.data(), into.size());
      if (count >= 0)
        return static_cast<size_t>(count);
      if (errno != EINTR)
        return explained(inside, errno);
    }
  };
  struct stat about{};
  if (fstat(file.get(), &about) == 0 && static_cast<uint64_t>(about.st_size) > limit)
    return user_error(cat("`", printable(inside), "` is larger than ",
                          limit < 1 << 20 ? cat(limit, " bytes") : cat(limit >> 20, " MB")));
  return read_all(source, limit);
}

Result<Path> ClosedFolder::locate(std::string_view inside) const {
  const Descriptor root = open_root(path_);
  if (!root.is_open())
    return file_error("cannot open", path_);
  std::string real;
  const Descriptor there = walk_beneath(root, inside, Links::followed_inside, O_PATH, 0, &real);
  if (!there.is_open())
    return explained(inside, errno);
  struct stat about{};
  if (fstat(there.get(), &about) != 0)
    return explained(inside, errno);
  if (S_ISDIR(about.st_mode))
    return real.empty() ? path_ : path_ / real;
  if (!S_ISREG(about.st_mode))
    return explained(inside, ENXIO);
  if (real == inside)  // no link was on the way
    return path_ / real;
  const auto [folder, name] = split_last(inside);
  std::string real_folder;
  const Descriptor above =
      walk_beneath(root, folder, Links::followed_inside, O_PATH, 0, &real_folder);
  if (!above.is_open())
    return explained(inside, errno);
  return real_folder.empty() ? path_ / name : path_ / real_folder / name;
}

bool ClosedFolder::has_file(std::string_view inside) const { return open(inside).has_value(); }

bool ClosedFolder::has_folder(std::string_view inside) const {
  const Descriptor root = open_root(path_);
  return root.is_open() &&
         open_beneath(root, inside, Links::followed_inside, O_PATH | O_DIRECTORY).is_open();
}

std::vector<std::string> ClosedFolder::names_beside(std::string_view inside) const {
  std::vector<std::string> names;
  const Descriptor root = open_root(path_);
  if (!root.is_open())
    return names;
  Descriptor folder =
      open_beneath(root, split_last(inside).first, Links::followed_inside, O_RDONLY | O_DIRECTORY);
  DIR* const list = folder.is_open() ? fdopendir(folder.get()) : nullptr;
  if (list == nullptr)
    return names;
  folder.release();
  const std::unique_ptr<DIR, int (*)(DIR*)> owner(list, closedir);
  while (const dirent* const entry = readdir(list))
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

}  // namespace fettle
