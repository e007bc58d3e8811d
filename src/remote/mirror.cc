#include "remote/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// The folders above a path, the highest first: `/a`, `/a/b` of `/a/b/c`.
std::vector<std::string> folders_above(const std::string& path) {
  std::vector<std::string> folders;
  for (size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1))
    folders.push_back(path.substr(0, at));
  return folders;
}

}  // namespace

Result<std::optional<Mirror>> Mirror::take(const Path& folder) {
  TRY(make_directories(folder / "contents"));
  for (int number = 0; number < most_commands; ++number) {
    const Path own = folder / std::to_string(number);
    TRY(make_directories(own / "root"));
    if (std::optional<LockFile> lock = TRY(LockFile::take(own / "lock"))) {
      Mirror mirror(folder, number, *std::move(lock));
      mirror.remove_remains();
      mirror.read_list();
      return std::optional<Mirror>(std::move(mirror));
    }
  }
  return std::optional<Mirror>();
}

Mirror::Mirror(const Path& folder, int number, LockFile lock)
    : own_((folder / std::to_string(number)).string()),
      root_(cat(own_, "/root")),
      contents_((folder / "contents").string()),
      lock_(std::move(lock)) {}

std::optional<Mirror::Stamp> Mirror::stamp_of(const std::string& path) {
  struct stat about{};
  if (lstat(path.c_str(), &about) != 0)
    return std::nullopt;
  return Stamp{about.st_ino, about.st_ctim.tv_sec * 1'000'000'000 + about.st_ctim.tv_nsec};
}

std::string Mirror::content_path(std::string_view digest) const {
  return cat(contents_, "/", digest);
}

/// Of somebody who was killed while he wrote the list.
void Mirror::remove_remains() const {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(own_, ignored))
    if (const std::string name = entry.path().filename().string();
        name != "lock" && name != "list" && name != "root")
      fs::remove(entry.path(), ignored);
}

/// A list that is damaged is none: then everything is made anew.
void Mirror::read_list() {
  list_ = read_file(cat(own_, "/list")).value_or("");
  const Result<Value> list = list_.empty() ? Result<Value>(Value()) : read_json(list_);
  if (!list)
    return;
  for (const Value& item : items_of(*list))
    if (Result<FileEntry> entry = file_entry_of(item)) {
      const Stamp stamp{static_cast<uint64_t>(item.integer_at("inode")),
                        item.integer_at("changed_ns")};
      placed_[entry->path] = {*entry, stamp};
    }
}

Result<std::vector<size_t>> Mirror::place(std::vector<FileEntry> entries) {
  std::ranges::sort(entries, {}, &FileEntry::path);
  std::map<std::string_view, const FileEntry*> by_path;
  for (const FileEntry& entry : entries)
    if (!by_path.emplace(entry.path, &entry).second)
      return user_error(cat("`", printable(entry.path), "` is listed twice"));
  for (const FileEntry& entry : entries)
    for (const std::string& above : folders_above(entry.path))
      if (const auto found = by_path.find(above);
          found != by_path.end() && found->second->type != FileEntry::Type::folder)
        return user_error(
            cat("`", printable(entry.path), "` is below `", printable(above), "`, no folder"));
  entries_ = std::move(entries);
  TRY(clear_away());
  std::vector<size_t> unknown;
  std::set<std::string_view> asked;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const FileEntry& entry = entries_[i];
    for (const std::string& above : folders_above(entry.path))
      if (mkdir(real(above).c_str(), 0700) != 0 && errno != EEXIST)
        return file_error("cannot make", real(above));
    if (entry.type != FileEntry::Type::file) {
      TRY(make(entry));
    } else if (!stamp_of(real(entry.path)) && !file_exists(content_path(entry.digest)) &&
               asked.insert(entry.digest).second) {
      unknown.push_back(i);
    }
  }
  return unknown;
}

/// Takes away what is not listed, or not as it is listed.
Status Mirror::clear_away() {
  std::map<std::string_view, const FileEntry*> wanted;
  std::set<std::string> folders;
  for (const FileEntry& entry : entries_) {
    wanted[entry.path] = &entry;
    for (std::string& above : folders_above(entry.path))
      folders.insert(std::move(above));
  }
  Result<std::vector<TreeEntry>> tree = list_tree(root_);
  if (!tree) {  // the pipe of a command before
    TRY(remove_tree(root_));
    TRY(make_directories(root_));
    tree.emplace();
  }
  for (const TreeEntry& there : *tree) {
    const std::string path = cat("/", there.path);
    const std::optional<Stamp> stamp = stamp_of(real(path));
    if (!stamp)  // went with the folder above it
      continue;
    const auto found = wanted.find(path);
    const bool is_folder = there.type == TreeEntry::Type::directory;
    if (found == wanted.end() ? is_folder && folders.contains(path)
                              : is_folder && found->second->type == FileEntry::Type::folder)
      continue;
    const auto before = placed_.find(path);
    const bool is_same = found != wanted.end() && before != placed_.end() &&
                         found->second->type == FileEntry::Type::file &&
                         before->second.entry.type == FileEntry::Type::file &&
                         before->second.entry.digest == found->second->digest &&
                         before->second.entry.mode == found->second->mode &&
                         before->second.stamp == *stamp;
    if (!is_same)
      TRY(remove_tree(real(path)));
  }
  return {};
}

Status Mirror::make(const FileEntry& entry) const {
  const std::string path = real(entry.path);
  switch (entry.type) {
    case FileEntry::Type::folder:
      if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return file_error("cannot make", path);
      // Else nothing could be written to it.
      return chmod(path.c_str(), entry.mode | 0700U) == 0 ? Status()
                                                          : file_error("cannot make", path);
    case FileEntry::Type::link:
      return symlink(entry.target.c_str(), path.c_str()) == 0 ? Status()
                                                              : file_error("cannot make", path);
    case FileEntry::Type::place:
      return write_file(path, "", entry.mode);
    case FileEntry::Type::other:
      return mkfifo(path.c_str(), 0600) == 0 ? Status() : file_error("cannot make", path);
    case FileEntry::Type::file:
      break;
  }
  return stamp_of(path) ? Status() : copy_content(entry);
}

/// A power cut may leave less than was written: such a content is not kept any longer. What has
/// just come was looked at then.
Status Mirror::copy_content(const FileEntry& entry) const {
  const std::string content = content_path(entry.digest);
  const ByteSource source = TRY(source_of_file(content));
  Sha256 hash;
  TRY(write_file(
      real(entry.path),
      [&](const ByteSink& sink) -> Status {
        if (arrived_.contains(entry.digest))
          return pump(source, sink);
        TRY(pump(source, [&](std::string_view bytes) {
          hash.add(bytes);
          return sink(bytes);
        }));
        if (hash.hex() == entry.digest)
          return {};
        static_cast<void>(unlink(content.c_str()));
        return world_error(cat("what the server had of `", printable(entry.path),
                               "` is damaged; start the command again"));
      },
      entry.mode));
  static_cast<void>(utimensat(AT_FDCWD, content.c_str(), nullptr, 0));  // it was used
  return {};
}

Status Mirror::begin_content(size_t entry) {
  const std::string content = content_path(entries_[entry].digest);
  arriving_ = {entry, 0, TRY(GrowingFile::begin(content, content)), std::make_unique<Sha256>()};
  return {};
}

Status Mirror::add_content(std::string_view bytes) {
  arriving_.size += bytes.size();
  if (arriving_.size > entries_[arriving_.entry].size)
    return user_error(cat("`", printable(entries_[arriving_.entry].path),
                          "` has more bytes than were announced"));
  arriving_.hash->add(bytes);
  return arriving_.file.add(bytes);
}

Result<bool> Mirror::end_content() {
  const FileEntry& entry = entries_[arriving_.entry];
  if (arriving_.size < entry.size)
    return false;
  if (arriving_.hash->hex() != entry.digest)
    return user_error(cat("`", printable(entry.path),
                          "` has changed while it was sent; start the command again"));
  TRY(arriving_.file.finish(0600, GrowingFile::Predecessor::is_the_same));
  arrived_.insert(entry.digest);
  return true;
}

Status Mirror::finish() {
  std::vector<Value> list;
  for (const FileEntry& entry : entries_) {
    if (entry.type == FileEntry::Type::file)
      TRY(make(entry));
    const Stamp stamp = stamp_of(real(entry.path)).value_or(Stamp{});
    stamps_[entry.path] = stamp;
    list.push_back(Value::dict({{"path", entry.path},
                                {"type", "file"},
                                {"mode", entry.mode},
                                {"digest", entry.digest},
                                {"inode", static_cast<int64_t>(stamp.inode)},
                                {"changed_ns", stamp.changed_ns}}));
    if (entry.type != FileEntry::Type::file)
      list.pop_back();
  }
  const std::string text = write_json(Value::list(std::move(list)));
  return text == list_ ? Status() : write_file(cat(own_, "/list"), text, 0600);
}

Result<std::vector<FileEntry>> Mirror::changed(const std::vector<std::string>& paths) const {
  std::map<std::string, FileEntry> found;
  const auto look = [&](const std::string& path, TreeEntry::Type type, unsigned mode, uint64_t size,
                        const std::string& target) {
    const auto known = stamps_.find(path);
    const bool is_folder = type == TreeEntry::Type::directory;
    if (known != stamps_.end() && (is_folder || stamp_of(real(path)) == known->second))
      return;
    FileEntry entry{path, FileEntry::Type::file, mode, size};
    if (type != TreeEntry::Type::file)
      entry.type = is_folder ? FileEntry::Type::folder : FileEntry::Type::link;
    entry.target = target;
    found[path] = std::move(entry);
  };
  for (const std::string& path : paths) {
    struct stat about{};
    if (lstat(real(path).c_str(), &about) != 0)
      continue;
    if (S_ISREG(about.st_mode)) {
      look(path, TreeEntry::Type::file, about.st_mode & 0777U, static_cast<uint64_t>(about.st_size),
           {});
    } else if (S_ISDIR(about.st_mode)) {
      look(path, TreeEntry::Type::directory, about.st_mode & 0777U, 0, {});
      for (const TreeEntry& entry : TRY(list_tree(real(path))))
        look(cat(path, "/", entry.path), entry.type, entry.mode & 0777U, entry.size, entry.target);
    }
  }
  std::vector<FileEntry> entries;
  for (auto& [path, entry] : found)
    entries.push_back(std::move(entry));
  return entries;
}

void prune_contents(const Path& folder, uint64_t bytes) {
  std::error_code ignored;
  std::vector<std::tuple<fs::file_time_type, uint64_t, Path>> contents;
  uint64_t total = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(folder / "contents", ignored)) {
    const uint64_t size = file.file_size(ignored);
    contents.emplace_back(file.last_write_time(ignored), size, file.path());
    total += size;
  }
  std::ranges::sort(contents);
  for (const auto& [used, size, path] : contents) {
    if (total <= bytes)
      return;
    fs::remove(path, ignored);
    total -= size;
  }
}

}  // namespace fettle
