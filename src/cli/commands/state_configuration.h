#pragma once
/// Idem's configuration file (`-c FILE`, `IDEM_CONFIG`): what commands about states take from it
/// when no flag says otherwise.
///
///   idem:
///     sls_sources: [file://states]
///     reconciler: basic

#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "cli/command.h"

namespace fettle {

class Configuration {
 public:
  /// Adds to the flags of a command what the file says of those that were not given.
  /// Errors (`Blame::user`), with the place in the file: a value of the wrong kind, a section that
  /// is no dictionary, a key in `idem` that looks like a known one. Any other unknown key is a
  /// warning: Idem has more settings than have a meaning here.
  static Result<Configuration> apply(Face& face, std::span<const CommandOption> options);

  /// The folder of the file. Empty: there is no file.
  const Path& folder() const { return folder_; }

  /// An error about what a flag says: at its place when the file said it.
  Error refused(const std::string& flag, std::string message) const;

 private:
  Path folder_;
  std::string text_;
  std::map<std::string, Where> said_;  ///< by flag, what the file said
};

}  // namespace fettle
