#include "verbs/check/layout.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "packages/module_layout.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t largest = uint64_t{64} << 20;
constexpr size_t most_folders = 100'000;

bool is_left_out(const std::string& folder) {
  constexpr std::array<std::string_view, 6> built = {"_build", "build",          "buck-out",
                                                     "dist",   "__pypackages__", "venv"};
  return folder.starts_with('.') || std::ranges::find(built, folder) != built.end();
}

Status find_below(const fs::path& top, std::vector<std::string>& files) {
  std::vector<fs::path> open{top};
  size_t seen = 0;
  while (!open.empty()) {
    const fs::path folder = std::move(open.back());
    open.pop_back();
    if (++seen > most_folders)
      return user_error(cat("`", top.string(), "` has more than ", most_folders,
                            " folders: name those with files of Starlark"));
    std::error_code failure;
    std::vector<fs::path> folders;
    for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
         at.increment(failure)) {
      const std::string name = at->path().filename().string();
      const fs::path path = folder == "." ? fs::path(name) : at->path();
      std::error_code ignored;  // a link that leads nowhere is no file
      if (at->is_directory(ignored) && !at->is_symlink(ignored)) {
        if (!is_left_out(name))
          folders.push_back(path);
      } else if (name.ends_with(".star") && at->is_regular_file(ignored)) {
        files.push_back(path.string());
      }
    }
    if (failure)
      return user_error(cat("reading the folder `", folder.string(), "`: ", failure.message()));
    open.insert(open.end(), folders.begin(), folders.end());
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> files_to_lay_out(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words.empty() ? std::vector<std::string>{"."} : words) {
    std::error_code failure;
    if (word == "-") {
      if (words.size() > 1)
        return user_error("`-`, standard input, is laid out by itself: name nothing else");
      files.push_back(word);
    } else if (fs::is_directory(word, failure)) {
      const size_t before = files.size();
      TRY(find_below(word, files));
      std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
    } else if (!fs::exists(word, failure)) {
      return user_error(cat("`", word, "` does not exist"));
    } else if (word.ends_with(".cf")) {
      return user_error(cat("`", word, "` is a model, and only files of Starlark can be laid out"));
    } else {
      files.push_back(word);
    }
  }
  std::set<std::string> seen;
  std::erase_if(files, [&](const std::string& file) { return !seen.insert(file).second; });
  return files;
}

void LayoutSummary::add(FileLayout file) {
  ++(file.error ? failed : file.has_changed ? changed : unchanged);
  file.before.clear();
  file.after.clear();
  files.push_back(std::move(file));
}

FileLayout layout_of_text(const std::string& path, std::string text) {
  FileLayout layout{path, std::move(text), {}};
  Result<std::string> after = module_layout(path, layout.before);
  if (!after) {
    layout.error = std::move(after).error();
    return layout;
  }
  layout.after = std::move(*after);
  layout.has_changed = layout.before != layout.after;
  return layout;
}

FileLayout layout_of_file(const std::string& path) {
  Result<uint64_t> size = size_of_file(path);
  Result<std::string> text =
      !size ? Result<std::string>(std::move(size).error())
      : *size > largest
          ? Result<std::string>(user_error(cat("it has more than ", largest >> 20, " MB"), {path}))
          : read_file(path);
  if (!text) {
    FileLayout failed{path, {}, {}};
    failed.error = std::move(text).error();
    return failed;
  }
  return layout_of_text(path, std::move(*text));
}

Status write_layout(const FileLayout& layout) {
  std::error_code failure;
  const fs::path real = fs::canonical(layout.path, failure);
  struct stat status{};
  if (failure || ::stat(real.c_str(), &status) != 0)
    return file_error("finding", layout.path);
  if (::access(real.c_str(), W_OK) != 0)  // though a new file could take its place
    return file_error("cannot write", layout.path);
  if (TRY(read_file(real)) != layout.before)
    return user_error("somebody changed it meanwhile: it is left as it is", {layout.path});
  return write_file(real, layout.after, status.st_mode & 07777);
}

Result<std::string> main_file_of(const std::vector<std::string>& words) {
  if (words.size() > 1)
    return user_error(
        cat("doc strings are checked of one package: name `main.star` or the folder "
            "that holds it, not ",
            words.size(), " things"));
  const std::string word = words.empty() ? "." : words[0];
  const fs::path path(word);
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    if (path.filename() == "main.star")
      return word;
    return user_error(cat("`", word, "` is neither `main.star` nor a folder that holds it"));
  }
  const fs::path main = word == "." ? fs::path("main.star") : path / "main.star";
  if (!fs::exists(main, failure))
    return user_error(cat("there is no `main.star` in `", word, "`"));
  return main.string();
}

}  // namespace fettle
