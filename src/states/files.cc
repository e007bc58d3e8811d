/// The files that sources read: those of this machine, or those of a map.

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "states/sources.h"

namespace fettle::states {
namespace {

class DiskFiles : public Files {
 public:
  explicit DiskFiles(const std::string& folder) {
    std::error_code ignored;
    if (!folder.empty())
      top_ = std::filesystem::canonical(folder, ignored);
  }
  Result<std::optional<std::string>> read(const std::string& path) override {
    if (!is_file(path))
      return std::optional<std::string>();
    Result<std::string> text = read_file(path);
    if (!text) {
      text.error().blame = Blame::user;
      return text.error();
    }
    return std::optional(std::move(*text));
  }
  Result<std::optional<ByteSource>> open(const std::string& path) override {
    if (!is_file(path))
      return std::optional<ByteSource>();
    // A device may never end, and nobody may ever write to a pipe.
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return user_error(cat("`", path, "` is no regular file, so it cannot be copied"));
    Result<ByteSource> bytes = source_of_file(path);
    if (!bytes) {
      bytes.error().blame = Blame::user;
      return bytes.error();
    }
    return std::optional(*std::move(bytes));
  }
  bool is_folder(const std::string& path) override {
    std::error_code ignored;
    return is_ours(path) && std::filesystem::is_directory(path, ignored);
  }

 private:
  bool is_file(const std::string& path) const {
    std::error_code ignored;
    if (!is_ours(path))
      return false;
    const auto status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
  }
  bool is_ours(const std::string& path) const {
    if (top_.empty())
      return true;
    std::error_code failure;
    const std::filesystem::path meant = std::filesystem::canonical(path, failure);
    return !failure && std::ranges::mismatch(top_, meant).in1 == top_.end();
  }

  std::filesystem::path top_;  ///< empty: everything is
};

class MapFiles : public Files {
 public:
  explicit MapFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  Result<std::optional<std::string>> read(const std::string& path) override {
    const auto found = files_.find(std::filesystem::path(path).lexically_normal().string());
    return found == files_.end() ? std::optional<std::string>() : std::optional(found->second);
  }
  bool is_folder(const std::string& path) override {
    const std::string folder = path == "." || path == "/" ? "" : cat(path, "/");
    const auto found = files_.lower_bound(folder);
    return found != files_.end() && found->first.starts_with(folder);
  }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace

Result<std::optional<ByteSource>> Files::open(const std::string& path) {
  std::optional<std::string> bytes = TRY(read(path));
  return bytes ? std::optional(source_of(*std::move(bytes))) : std::nullopt;
}

std::unique_ptr<Files> disk_files(const std::string& folder) {
  return std::make_unique<DiskFiles>(folder);
}

std::unique_ptr<Files> files_of(std::map<std::string, std::string> files) {
  return std::make_unique<MapFiles>(std::move(files));
}

}  // namespace fettle::states
