#pragma once
/// `.kurtosisignore` in a folder that is uploaded: what stays out of its archive.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle {

/// The patterns of a folder. Each line is one, with `*`, `?` and `[…]` within a name; `#` begins a
/// comment. One that ends with `/` means folders; one with a `/` within it the whole path, any
/// other a name at any depth. What is below an ignored folder is ignored.
class IgnoreRules {
 public:
  /// None: the folder has no such file of its own; a link does not count. Errors (`Blame::user`):
  /// it has more than a megabyte.
  static Result<IgnoreRules> of_folder(const std::string& folder);

  /// `path`: relative to the folder.
  bool has(std::string_view path, bool is_folder) const;
  bool is_empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::string text;
    bool is_for_folders = false;
    bool is_path = false;
  };
  bool matches(std::string_view path, bool is_folder) const;

  std::vector<Pattern> patterns_;
};

}  // namespace fettle
