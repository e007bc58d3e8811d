#pragma once
/// `.dockerignore`: which files of a folder stay out of the context of a build.
///
/// Docker documents its rules as those of Go's `filepath.Match`, with `**` for any number of
/// folders and `!` for exceptions; the last matching line counts. A line also covers everything
/// below a folder that it matches, so an exception can bring back a file of a folder that is left
/// out. Anybody may write patterns: RE2 matches in linear time whatever they are.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace fettle {

class DockerIgnore {
 public:
  /// Errors (`Blame::user`): a line that is not a pattern. `file` is for errors.
  static Result<DockerIgnore> of(std::string_view text, const std::string& file);

  /// `path`: relative to the folder, without a `/` at its end.
  bool has(std::string_view path) const;
  bool is_empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::shared_ptr<const re2::RE2> expression;
    bool is_exception = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace fettle
