#include "packages/ignore_rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view file_name = ".kurtosisignore";
constexpr size_t largest = 1 << 20;  // bytes

}  // namespace

Result<IgnoreRules> IgnoreRules::of_folder(const std::string& folder) {
  IgnoreRules ignored;
  const Path path = Path(folder) / file_name;
  std::error_code failure;
  // A link is not followed: it could lead anywhere, and without end.
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, failure)))
    return ignored;
  Result<std::string> text = read_all(TRY(source_of_file(path)), largest);
  if (!text)
    return user_error(cat("cannot read `", path.string(), "`: ", text.error().message));
  for (const std::string_view each : split(*text, '\n')) {
    std::string_view line = trim(each);
    if (line.empty() || line.starts_with('#'))
      continue;
    Pattern pattern;
    pattern.is_for_folders = line.ends_with('/');
    if (pattern.is_for_folders)
      line.remove_suffix(1);
    pattern.is_path = line.find('/') != line.npos;
    pattern.text = line;
    ignored.patterns_.push_back(std::move(pattern));
  }
  return ignored;
}

bool IgnoreRules::matches(std::string_view path, bool is_folder) const {
  const std::string whole(path), name(path.substr(path.rfind('/') + 1));
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) {
    return (is_folder || !pattern.is_for_folders) &&
           fnmatch(pattern.text.c_str(), (pattern.is_path ? whole : name).c_str(), FNM_PATHNAME) ==
               0;
  });
}

bool IgnoreRules::has(std::string_view path, bool is_folder) const {
  if (is_empty())
    return false;
  for (size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1))
    if (matches(path.substr(0, end), true))
      return true;
  return matches(path, is_folder);
}

}  // namespace fettle
