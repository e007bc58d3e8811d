#pragma once
/// `.dockerignore`: what of a folder is no part of the context of a build.
///
/// Docker documents its rules as those of Go's `filepath.Match`, with `**` for any number of
/// folders, and `!` for exceptions; the last line that matches counts. A line also means what is
/// below the folder that it matches, so an exception can bring back a file of a folder that is left
/// out. Patterns come from anybody: RE2 matches in linear time whatever they are.

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
  /// Errors (`Blame::user`): a line is no pattern. `file` is for errors.
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
