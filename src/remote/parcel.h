#pragma once
/// The files that a command names, at the client: which travel, and how what the command has
/// written comes back.

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "remote/growing_file.h"
#include "remote/request.h"

namespace fettle {

/// Where a command writes: absolute paths, and how they are spelled.
using WrittenPaths = std::map<std::string, std::string>;

/// What goes to the server. Files are read again when their contents are asked for.
struct Parcel {
  std::vector<FileEntry> files;
  std::vector<std::string> paths;  ///< spelled as absolute paths
  WrittenPaths writes;
  std::map<std::string, std::string> held;  ///< contents of pipes and devices, by path
  /// Our variables that a file names, such as `${TAG}` of a compose file.
  std::map<std::string, std::string> variables;
};

/// `folder`: in which the command was called. What is not there does not travel; the command will
/// say so. Errors (`Blame::user`): too many files or bytes, a name that is no UTF-8, something that
/// is neither a file nor a folder below one.
Result<Parcel> pack_parcel(const NamedFiles& named, const std::string& folder);

/// The absolute path without `.` and `..`.
std::string plain_path(const std::string& folder, const std::string& path);

/// Whether something that the server sends may be written: it is at or below one of `writes`.
bool may_write(const WrittenPaths& writes, const std::string& path);

/// Writes what comes back.
class ArrivingFile {
 public:
  /// Folders and links are made at once; a file is complete when `size` bytes came. Errors: it may
  /// not be written (`Blame::bug`), or cannot.
  static Result<ArrivingFile> begin(const WrittenPaths& writes, FileEntry entry);
  ArrivingFile() = default;
  Status add(std::string_view bytes);

 private:
  Status finish();

  FileEntry entry_;
  std::string shown_;  ///< the path as its user spells it
  uint64_t size_ = 0;
  GrowingFile file_;
  Descriptor device_;  ///< what stands there already and takes bytes as it is: a pipe, a device
};

}  // namespace fettle
