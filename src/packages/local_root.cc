#include "packages/local_root.h"

#include <filesystem>

#include "base/closed_folder.h"
#include "base/text.h"
#include "packages/sources.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_settings = 1 << 20;

/// Whether the settings of a clone name the repository as where it came from.
bool is_clone_of(const fs::path& folder, const std::string& repository) {
  const Result<std::string> settings = ClosedFolder(folder).read(".git/config", largest_settings);
  if (!settings)
    return false;
  const std::string path = lower_case(repository.substr(repository.find('/') + 1));
  for (const std::string_view line : split(*settings, '\n')) {
    const size_t equals = line.find('=');
    if (equals == line.npos || trim(line.substr(0, equals)) != "url")
      continue;
    std::string url = lower_case(trim(line.substr(equals + 1)));
    if (url.ends_with(".git"))
      url.resize(url.size() - 4);
    // `https://github.com/author/name`, `git@github.com:author/name`
    for (const std::string_view between : {"/", ":"})
      if (url.ends_with(cat("github.com", between, path)))
        return true;
  }
  return false;
}

bool is_package(const fs::path& folder, const std::string& name) {
  const Result<PackageFile> found = read_package_file(ClosedFolder(folder), "kurtosis.yml");
  return found && found->name == name;
}

}  // namespace

LocalRoot local_root(const std::string& folder, const std::string& name) {
  const std::string repository = Locator{name, {}}.repository();
  LocalRoot root{name, folder};
  fs::path at = folder;
  for (std::string called = name; called.size() > repository.size();) {
    const size_t slash = called.rfind('/');
    if (at.filename() != called.substr(slash + 1))
      break;
    called.resize(slash);
    at = at.parent_path();
    if (is_package(at, called) || (called == repository && is_clone_of(at, repository)))
      root = {called, at.string()};
  }
  return root;
}

}  // namespace fettle
