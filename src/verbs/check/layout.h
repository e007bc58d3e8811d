#pragma once
/// `fettle format` and `fettle lint`: the layout of files of Starlark. Each file is read, laid out
/// and written by itself, so an error in one keeps no other from being laid out.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fettle {

/// The files that are meant: a file is itself, a folder is all below it that end in `.star`. Folders
/// whose name begins with a dot, and those that only hold what a program built or fetched (`build`,
/// `dist`, `venv`, …), are left out, as are links to folders. Without a word it is this folder.
/// Error: something does not exist.
Result<std::vector<std::string>> files_to_lay_out(const std::vector<std::string>& words);

struct FileLayout {
  std::string path;    ///< as errors tell it
  std::string before;  ///< as it was
  std::string after;   ///< as it is laid out
  bool has_changed = false;
  std::optional<Error> error{};
  bool is_changed() const { return !error && has_changed; }
};

/// All files that were looked at.
struct LayoutSummary {
  std::vector<FileLayout> files{};  ///< without their texts
  size_t changed = 0, unchanged = 0, failed = 0;
  void add(FileLayout file);
};

/// Nothing is written. `text`: that of standard input, if the path is `-`.
FileLayout layout_of_text(const std::string& path, std::string text);
FileLayout layout_of_file(const std::string& path);

/// Writes a changed file, which keeps its mode; of a link, the file that it leads to. Error: it
/// cannot be written, or somebody changed it meanwhile.
Status write_layout(const FileLayout& layout);

/// What `lint -c` is asked about: `main.star`, or a folder that holds it.
Result<std::string> main_file_of(const std::vector<std::string>& words);

}  // namespace fettle
