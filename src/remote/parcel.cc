#include "remote/parcel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/closed_folder.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_sent_files = 100'000;
constexpr uint64_t most_sent_bytes = 4ULL << 30;
constexpr uint64_t largest_held = 64 << 20;
/// A larger file is no text in which somebody names a variable.
constexpr uint64_t largest_text = 1 << 20;

bool is_letter_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

class Packer {
 public:
  Packer(Parcel& parcel, const std::string& folder) : parcel_(parcel), folder_(folder) {
    for (char** one = environ; *one != nullptr; ++one) {
      const std::string_view text = *one;
      const size_t equals = text.find('=');
      const std::string_view name = text.substr(0, equals);
      if (equals != text.npos && !is_variable_of_machine(name) && is_valid_utf8(text))
        ours_[std::string(name)] = text.substr(equals + 1);
    }
  }

  Status add_read(const std::string& spelled) {
    const std::string path = plain_path(folder_, spelled);
    if (path == "/dev/stdin")
      return {};
    if (path == "/")
      return user_error("the folder `/` does not travel to a server");
    if (spelled.starts_with("/"))
      parcel_.paths.push_back(spelled);
    struct stat about{};
    if (stat(path.c_str(), &about) != 0) {
      // The command says which name beside it may be meant.
      TRY(add_above(path));
      return add_names_in(Path(path).parent_path().string());
    }
    if (S_ISDIR(about.st_mode))
      return add_folder(path);
    if (S_ISREG(about.st_mode))
      return add_file(path, about.st_mode & 0777U, static_cast<uint64_t>(about.st_size));
    return add_held(path);
  }

  Status add_write(const std::string& spelled) {
    const std::string path = plain_path(folder_, spelled);
    // Devices are those of the server; `/dev/shm` has files as any other folder.
    const bool is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    if (path == "/" || is_device || path.starts_with("/proc/"))
      return {};
    if (spelled.starts_with("/"))
      parcel_.paths.push_back(spelled);
    parcel_.writes.emplace(path, spelled);
    TRY(add_above(path));
    struct stat about{};
    if (stat(path.c_str(), &about) != 0) {
      // A link that leads nowhere is there; where it leads is nothing for the server.
      if (lstat(path.c_str(), &about) == 0)
        entries_.try_emplace(path,
                             FileEntry{path, FileEntry::Type::link, 0777, 0, {}, ".leads-nowhere"});
      return {};
    }
    add_place(path, S_ISDIR(about.st_mode) ? FileEntry::Type::folder : FileEntry::Type::place,
              about.st_mode & 0777U);
    if (!S_ISDIR(about.st_mode))
      return {};
    // What stands there matters to what is written, but the folder in which we are may be large.
    return add_names_in(path);
  }

  /// The folder itself, if it is there.
  Status add_above(const std::string& path) {
    const std::string above = Path(path).parent_path().string();
    std::error_code failure;
    if (above != "/" && fs::is_directory(above, failure))
      add_place(above, FileEntry::Type::folder, 0755);
    return {};
  }

  void finish() {
    // What is read wins over what may be written.
    for (auto& [path, entry] : entries_) {
      bool is_below_file = false;
      for (Path above = Path(path).parent_path(); above != "/"; above = above.parent_path())
        if (const auto found = entries_.find(above.string());
            found != entries_.end() && found->second.type != FileEntry::Type::folder)
          is_below_file = true;
      if (!is_below_file)
        parcel_.files.push_back(entry);
    }
  }

 private:
  void add_place(const std::string& path, FileEntry::Type type, unsigned mode) {
    entries_.try_emplace(path, FileEntry{path, type, mode, 0});
  }

  Status check_amount() const {
    if (entries_.size() > most_sent_files || bytes_ > most_sent_bytes)
      return user_error(
          cat("what the command names is too much for the way to a server: more than ",
              most_sent_files, " files or 4 GB; name a smaller folder"));
    return {};
  }

  /// The names in a folder, without contents.
  Status add_names_in(const std::string& path) {
    std::error_code failure;
    for (const fs::directory_entry& item : fs::directory_iterator(path, failure)) {
      const std::string whole = item.path().string();
      if (!is_valid_utf8(whole))
        continue;
      const bool is_folder = item.is_directory(failure);
      add_place(whole, is_folder ? FileEntry::Type::folder : FileEntry::Type::place,
                is_folder ? 0755 : 0644);
      TRY(check_amount());
    }
    return {};
  }

  /// Sockets, pipes and devices stay here; the server learns that they are there.
  Status add_folder(const std::string& path) {
    entries_[path] = {path, FileEntry::Type::folder, 0755, 0};
    std::error_code failure;
    fs::recursive_directory_iterator item(path, failure);
    if (failure)
      return world_error(cat("cannot read `", path, "`: ", lower_case(failure.message())));
    for (; item != fs::recursive_directory_iterator(); item.increment(failure)) {
      const std::string whole = item->path().string();
      if (!is_valid_utf8(whole))
        return user_error(
            cat("the name `", printable(whole), "` is no UTF-8, so it cannot travel"));
      TRY(add_item(*item, whole));
      // Our own state is no part of a package that is kept around it.
      if (const char* const home = std::getenv("FETTLE_HOME");
          home != nullptr && plain_path(folder_, home) == whole)
        item.disable_recursion_pending();
      TRY(check_amount());
    }
    return failure ? world_error(cat("cannot read `", path, "`: ", lower_case(failure.message())))
                   : Status();
  }

  Status add_item(const fs::directory_entry& item, const std::string& whole) {
    std::error_code failure;
    const fs::file_status status = item.symlink_status(failure);
    const auto mode = static_cast<unsigned>(status.permissions()) & 0777U;
    switch (status.type()) {
      case fs::file_type::directory:
        entries_[whole] = {whole, FileEntry::Type::folder, mode, 0};
        return {};
      case fs::file_type::symlink:
        entries_[whole] = {
            whole, FileEntry::Type::link, 0777, 0, {}, fs::read_symlink(whole, failure).string()};
        return {};
      case fs::file_type::regular:
        return add_file(whole, mode, item.file_size(failure));
      case fs::file_type::none:
      case fs::file_type::not_found:  // it went meanwhile
        return {};
      default:
        entries_[whole] = {whole, FileEntry::Type::other, mode, 0};
        return {};
    }
  }

  Status add_file(const std::string& path, unsigned mode, uint64_t size) {
    if (!is_valid_utf8(path))
      return user_error(cat("the name `", printable(path), "` is no UTF-8, so it cannot travel"));
    bytes_ += size;
    TRY(check_amount());
    FileEntry entry{path, FileEntry::Type::file, mode, 0};
    const ByteSource source = TRY(source_of_file(path));
    Sha256 hash;
    std::string text;
    TRY(pump(source, [&](std::string_view bytes) -> Status {
      hash.add(bytes);
      entry.size += bytes.size();
      if (entry.size <= largest_text)
        text.append(bytes);
      return {};
    }));
    entry.digest = hash.hex();
    if (entry.size <= largest_text)
      take_variables(text);
    entries_[path] = std::move(entry);
    return {};
  }

  /// A pipe or a device: its bytes come once.
  Status add_held(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open())
      return file_error("cannot read", path);
    std::string text;
    TRY(pump(source_of(std::move(file), path), [&](std::string_view bytes) -> Status {
      text.append(bytes);
      return text.size() > largest_held
                 ? Status(user_error(cat("`", path, "` has more than 64 MB")))
                 : Status();
    }));
    take_variables(text);
    entries_[path] = {path, FileEntry::Type::file, 0644, text.size(), sha256_hex(text)};
    parcel_.held[path] = std::move(text);
    return {};
  }

  void take_variables(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      if (!is_letter_of_name(text[at])) {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text.size() && is_letter_of_name(text[end]))
        ++end;
      if (const auto found = ours_.find(text.substr(at, end - at)); found != ours_.end())
        parcel_.variables[found->first] = found->second;
      at = end;
    }
  }

  Parcel& parcel_;
  const std::string& folder_;
  std::map<std::string, std::string, std::less<>> ours_;
  std::map<std::string, FileEntry> entries_;
  uint64_t bytes_ = 0;
};

/// The one at or above the path.
WrittenPaths::const_iterator place_of(const WrittenPaths& writes, const std::string& path) {
  return std::ranges::find_if(writes, [&](const auto& one) {
    return path == one.first || path.starts_with(cat(one.first, "/"));
  });
}

}  // namespace

std::string plain_path(const std::string& folder, const std::string& path) {
  std::string plain = (Path(folder) / path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/'))
    plain.pop_back();
  return plain;
}

Result<Parcel> pack_parcel(const NamedFiles& named, const std::string& folder) {
  Parcel parcel;
  Packer packer(parcel, folder);
  for (const std::string& path : named.reads)
    TRY(packer.add_read(path));
  for (const std::string& path : named.writes)
    TRY(packer.add_write(path));
  packer.finish();
  return parcel;
}

bool may_write(const WrittenPaths& writes, const std::string& path) {
  return is_plain_path(path) && place_of(writes, path) != writes.end();
}

Result<ArrivingFile> ArrivingFile::begin(const WrittenPaths& writes, FileEntry entry) {
  const auto refused = [&] {
    return Error(Blame::bug, cat("the server sends `", printable(entry.path),
                                 "`, which the command does not write"));
  };
  if (!may_write(writes, entry.path))
    return refused();
  // Nothing is written through a link below what was named: the server may have sent the link.
  for (Path above = Path(entry.path).parent_path(); may_write(writes, above.string());
       above = above.parent_path())
    if (std::error_code failure; fs::is_symlink(above, failure))
      return refused();
  // What was named may be a link of its user's, but the server has none to put there.
  const auto& [plain, spelled] = *place_of(writes, entry.path);
  const bool is_named = entry.path == plain;
  std::error_code unknown;
  const bool is_link_of_server = !is_named && fs::is_symlink(entry.path, unknown);
  if (entry.type == FileEntry::Type::link
          ? is_named
          : entry.type == FileEntry::Type::folder && is_link_of_server)
    return refused();
  ArrivingFile arriving;
  arriving.shown_ = cat(spelled, entry.path.substr(plain.size()));
  if (entry.type == FileEntry::Type::folder) {
    std::error_code failure;
    fs::create_directories(entry.path, failure);
    if (failure)
      return world_error(
          cat("cannot make `", arriving.shown_, "`: ", lower_case(failure.message())));
    static_cast<void>(chmod(entry.path.c_str(), entry.mode));
  } else if (entry.type == FileEntry::Type::link) {
    static_cast<void>(unlink(entry.path.c_str()));
    if (symlink(entry.target.c_str(), entry.path.c_str()) != 0)
      return file_error("cannot make", arriving.shown_);
  } else {
    struct stat about{};
    const bool is_there = !is_link_of_server && stat(entry.path.c_str(), &about) == 0;
    std::error_code failure;
    const Path target = is_there ? fs::canonical(entry.path, failure) : Path(entry.path);
    if (is_there && !S_ISREG(about.st_mode)) {
      arriving.device_ = Descriptor(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
      if (!arriving.device_.is_open())
        return file_error("cannot write", arriving.shown_);
    } else {
      arriving.file_ = TRY(GrowingFile::begin(target.string(), arriving.shown_));
    }
  }
  arriving.entry_ = std::move(entry);
  if (arriving.entry_.type == FileEntry::Type::file && arriving.entry_.size == 0)
    TRY(arriving.finish());
  return arriving;
}

Status ArrivingFile::add(std::string_view bytes) {
  if (!file_.is_open() && !device_.is_open())
    return Error(Blame::bug, "the server sends contents of no file");
  size_ += bytes.size();
  TRY(device_.is_open() ? write_all(device_, bytes, shown_) : file_.add(bytes));
  return size_ < entry_.size ? Status() : finish();
}

Status ArrivingFile::finish() {
  if (file_.is_open())
    TRY(file_.finish(entry_.mode));
  device_.close();
  return {};
}

}  // namespace fettle
