/// The files that sources read: those of this machine, or those of a map.

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "states/sources.h"

namespace fettle::states {
namespace {

class DiskFiles : public Files {
 public:
  Result<std::optional<std::string>> read(const std::string& path) override {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status) || std::filesystem::is_directory(status))
      return std::optional<std::string>();
    Result<std::string> text = read_file(path);
    if (!text) {
      text.error().blame = Blame::user;
      return text.error();
    }
    return std::optional(std::move(*text));
  }
  bool is_folder(const std::string& path) override {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
  }
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

std::unique_ptr<Files> disk_files() { return std::make_unique<DiskFiles>(); }

std::unique_ptr<Files> files_of(std::map<std::string, std::string> files) {
  return std::make_unique<MapFiles>(std::move(files));
}

}  // namespace fettle::states
