#pragma once
/// The files that a build is given.
///
/// A builder takes a tar, and every build of an unchanged folder should be known before one is
/// written. So the folder is listed once, `.dockerignore` taken out, and what is left is packed in
/// one pass that also says which part of it has which content: a plan can name the file that
/// changed. Links are packed as links, as Docker packs them; nothing is followed out of the folder.
///
/// Invariant: the same files give the same bytes, whatever their times and owners are.

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace fettle {

struct PackedContext {
  std::string digest;                        ///< of the tar
  std::map<std::string, std::string> parts;  ///< path -> digest of what is at or below it
};

class BuildContext {
 public:
  /// `file`: the Dockerfile, relative to the folder. It is sent with the text `dockerfile`, even if
  /// `.dockerignore` names it. Errors (`Blame::user`): a wrong `.dockerignore` (or
  /// `FILE.dockerignore`, which comes first), more than 10 GB, sockets and devices.
  static Result<BuildContext> of(const Path& folder, const std::string& file,
                                 std::string dockerfile);

  /// A folder whose files become an image of their own, as they are.
  static Result<BuildContext> alone(const Path& folder);

  /// Writes the tar.
  Result<std::map<std::string, std::string>> pack(const ByteSink& sink) const;

  const Path& folder() const { return folder_; }
  const std::string& file() const { return file_; }
  const std::string& dockerfile() const { return dockerfile_; }
  /// What is sent beside the Dockerfile, sorted by path.
  const std::vector<TreeEntry>& entries() const { return entries_; }

 private:
  BuildContext(Path folder, std::string file, std::string dockerfile)
      : folder_(std::move(folder)), file_(std::move(file)), dockerfile_(std::move(dockerfile)) {}
  Status leave_out_ignored();
  Status check_size() const;
  size_t depth_of_parts() const;

  Path folder_;
  std::string file_, dockerfile_;
  std::string prefix_{};  ///< where the folder's files are in the tar: `files/`
  std::vector<TreeEntry> entries_;
};

}  // namespace fettle
