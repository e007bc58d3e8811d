#pragma once
/// A hidden folder on the file system of what is to be written, so that it takes its place by a
/// rename.

#include <string>
#include <utility>

#include "base/result.h"

namespace fettle {

/// It is gone, with all that is in it, at the end.
class ScratchFolder {
 public:
  /// Errors (`Blame::world`): nothing can be created in `beside`.
  static Result<ScratchFolder> make(const std::string& beside);
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace fettle
