#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/closed_folder.h"
#include "base/largest_file.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_link = 4096;
constexpr std::string_view standard_input = "/dev/stdin";

Error code_error(std::string_view what, const Path& path, const std::error_code& code) {
  return world_error(cat(what, " `", path.string(), "`: ", lower_case(code.message())));
}

Error too_large(const Path& path) {
  return world_error(cat(path == standard_input ? "standard input" : cat("`", path.string(), "`"),
                         " is larger than ", largest_file >> 20, " MB, the limit for a file"));
}

Result<size_t> read_some(int descriptor, std::span<char> into, const Path& path) {
  while (true) {
    const ssize_t count = ::read(descriptor, into.data(), into.size());
    if (count >= 0)
      return static_cast<size_t>(count);
    if (errno != EINTR)
      return file_error("cannot read", path);
  }
}

Status write_all(int descriptor, std::string_view bytes, const Path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return file_error("cannot write", path);
    bytes.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return {};
}

/// Something in an open folder, by its name; none for what went away meanwhile.
Result<std::optional<TreeEntry>> look_at(int folder, const char* name, const Path& path) {
  struct stat about{};
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Result<std::optional<TreeEntry>>(std::nullopt)
                           : file_error("cannot look at", path);
  TreeEntry entry;
  entry.mode = about.st_mode & 07777;
  if (S_ISDIR(about.st_mode)) {
    entry.type = TreeEntry::Type::directory;
  } else if (S_ISLNK(about.st_mode)) {
    entry.type = TreeEntry::Type::symlink;
    entry.target.resize(longest_link);
    const ssize_t size = readlinkat(folder, name, entry.target.data(), entry.target.size());
    if (size < 0)
      return file_error("cannot read the link", path);
    entry.target.resize(static_cast<size_t>(size));
  } else if (S_ISREG(about.st_mode)) {
    entry.size = static_cast<uint64_t>(about.st_size);
  } else {
    return user_error(cat("`", path.string(), "` is neither file, folder nor link"));
  }
  return std::optional(std::move(entry));
}

/// Lists the entries of a folder below `root`. The paths of folders among them are put into
/// `folders`.
Status list_one(const Descriptor& root, const Path& name, const std::string& folder,
                std::vector<TreeEntry>& entries, std::vector<std::string>& folders) {
  const Path shown = name / folder;
  Descriptor open = open_beneath(root, folder, Links::refused, O_RDONLY | O_DIRECTORY);
  DIR* const list = open.is_open() ? fdopendir(open.get()) : nullptr;
  if (list == nullptr)
    return file_error("cannot list", shown);
  const int number = open.release();
  const std::unique_ptr<DIR, int (*)(DIR*)> owner(list, closedir);
  while (const dirent* const found = readdir(list)) {
    const std::string_view own = found->d_name;
    if (own == "." || own == "..")
      continue;
    auto entry = TRY(look_at(number, found->d_name, shown / own));
    if (!entry)
      continue;
    entry->path = folder.empty() ? std::string(own) : cat(folder, "/", own);
    if (entry->type == TreeEntry::Type::directory)
      folders.push_back(entry->path);
    entries.push_back(std::move(*entry));
  }
  return {};
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0)
    ::close(release());
}

Error file_error(std::string_view what, const Path& path) {
  return code_error(what, path, std::error_code(errno, std::generic_category()));
}

Result<Descriptor> open_to_read(const Path& path) {
  // A socket cannot be opened by that path.
  Descriptor file(path == standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open())
    return file_error("cannot open", path);
  return file;
}

Result<ByteSource> source_of_file(const Path& path) {
  return source_of(TRY(open_to_read(path)), path);
}

ByteSource source_of(Descriptor file, const Path& path) {
  auto shared = std::make_shared<Descriptor>(std::move(file));
  return [shared, path](std::span<char> into) { return read_some(shared->get(), into, path); };
}

Result<std::string> read_file(const Path& path) {
  const Descriptor file = TRY(open_to_read(path));
  struct stat about{};
  if (fstat(file.get(), &about) != 0)
    return file_error("cannot look at", path);
  if (about.st_size > static_cast<off_t>(largest_file))
    return too_large(path);
  // One byte more finds the end: files of the kernel have size 0, and some give everything only at
  // the first read.
  constexpr size_t most = largest_file + 1;
  std::string bytes(std::clamp<size_t>(static_cast<size_t>(about.st_size) + 1, 4096, most), '\0');
  size_t size = 0;
  while (true) {
    const size_t count = TRY(read_some(file.get(), std::span(bytes).subspan(size), path));
    if (count == 0)
      break;
    size += count;
    if (size == most)
      return too_large(path);
    if (size == bytes.size())
      bytes.resize(std::min(2 * size + 4096, most));
  }
  bytes.resize(size);
  return bytes;
}

Status write_file(const Path& path, std::string_view bytes, unsigned mode) {
  return write_file(path, [&](const ByteSink& write) { return write(bytes); }, mode);
}

namespace {

/// A file without a name, if the file system supports that: a kill leaves nothing behind. Otherwise
/// a file beside `path`, whose name is filled in.
Descriptor unnamed_file(const Path& path, std::string& name) {
  const Path folder = path.has_parent_path() ? path.parent_path() : Path(".");
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (file.is_open())
    return file;
  name = path.string() + ".XXXXXX";
  return Descriptor(mkostemp(name.data(), O_CLOEXEC));
}

/// Gives it a name beside `path`, for the moment before it is renamed.
bool name_beside(const Descriptor& file, const Path& path, std::string& name) {
  const std::string self = cat("/proc/self/fd/", file.get());
  static std::atomic<uint64_t> count{0};
  while (true) {
    name = cat(path.string(), ".", getpid(), "-", ++count);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return true;
    if (errno != EEXIST)
      return false;
  }
}

}  // namespace

Status write_file(const Path& path, const std::function<Status(const ByteSink&)>& fill,
                  unsigned mode) {
  std::string name;
  const Descriptor file = unnamed_file(path, name);
  if (!file.is_open())
    return file_error("cannot create a file next to", path);
  Status written = fill([&](std::string_view bytes) { return write_sparsely(file, bytes, path); });
  if (written &&
      (fchmod(file.get(), mode) != 0 || (name.empty() && !name_beside(file, path, name)) ||
       rename(name.c_str(), path.c_str()) != 0))
    written = file_error("cannot write", path);
  if (!written && !name.empty())
    unlink(name.c_str());
  return written;
}

Status write_sparsely(const Descriptor& file, std::string_view bytes, const Path& path) {
  constexpr size_t block = 4096;
  static constexpr std::array<char, block> zeros{};
  const auto is_hole = [&](std::string_view rest) {
    return rest.size() >= block && std::memcmp(rest.data(), zeros.data(), block) == 0;
  };
  while (!bytes.empty()) {
    size_t size = 0;
    const bool hole = is_hole(bytes);
    while (size < bytes.size() && is_hole(bytes.substr(size)) == hole)
      size += std::min(block, bytes.size() - size);
    if (hole) {
      const off_t end = ::lseek(file.get(), static_cast<off_t>(size), SEEK_CUR);
      if (end < 0 || ::ftruncate(file.get(), end) != 0)
        return file_error("cannot write", path);
    } else {
      TRY(write_all(file.get(), bytes.substr(0, size), path));
    }
    bytes.remove_prefix(size);
  }
  return {};
}

Result<ByteSink> sink_to_file(const Path& path, uint64_t limit) {
  auto file = std::make_shared<Descriptor>(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file->is_open())
    return file_error("cannot create", path);
  return ByteSink([file, path, limit, left = limit](std::string_view bytes) mutable -> Status {
    if (bytes.size() > left)
      return world_error(cat("more than ", limit, " bytes"));
    left -= bytes.size();
    return write_sparsely(*file, bytes, path);
  });
}

Result<uint64_t> size_of_file(const Path& path) {
  std::error_code code;
  const uintmax_t size = fs::file_size(path, code);
  if (code)
    return code_error("cannot look at", path, code);
  return size;
}

Status make_directories(const Path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    return code_error("cannot create the folder", path, code);
  return {};
}

Status remove_tree(const Path& path) {
  // Somebody else may be removing it, or still be writing into it: what a killed program started
  // lives a moment longer.
  constexpr int tries = 100;
  std::error_code code;
  for (int i = 0; i < tries; ++i) {
    fs::remove_all(path, code);
    if (code != std::errc::no_such_file_or_directory && code != std::errc::directory_not_empty)
      break;
  }
  if (code)
    return code_error("cannot remove", path, code);
  return {};
}

bool file_exists(const Path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

Result<TemporaryDirectory> TemporaryDirectory::make(std::string_view prefix) {
  std::error_code code;
  const Path parent = fs::temp_directory_path(code);
  std::string name = (code ? Path("/tmp") : parent) / (std::string(prefix) + "XXXXXX");
  if (mkdtemp(name.data()) == nullptr)
    return file_error("cannot create a folder like", name);
  return TemporaryDirectory(Path(name));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, Path())) {}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty())
    (void)remove_tree(path_);
}

Result<std::vector<TreeEntry>> list_tree(const Path& root) {
  const Descriptor top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open())
    return file_error("cannot list", root);
  std::vector<TreeEntry> entries;
  for (std::vector<std::string> folders{""}; !folders.empty();) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    TRY(list_one(top, root, folder, entries, folders));
  }
  std::ranges::sort(entries, {}, &TreeEntry::path);
  return entries;
}

}  // namespace fettle
