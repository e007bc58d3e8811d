#pragma once
/// A folder that appears when all of it is written, or never. Whoever finds it under its name finds
/// it whole.
///
///   NewFolder folder = TRY(NewFolder::make("out"));
///   TRY(write_file(folder.path() / "a", "…"));
///   TRY(folder.finish());   // now there is `out/a`

#include "base/file.h"
#include "base/scratch_folder.h"

namespace fettle {

class NewFolder {
 public:
  /// Makes the folders above it, too. Errors (`Blame::user`): something has this name already.
  /// Errors (`Blame::world`): nothing can be made there.
  static Result<NewFolder> make(const Path& name);
  /// Where its contents are written.
  const Path& path() const { return path_; }
  /// Its name, without a slash at the end.
  const Path& name() const { return name_; }
  /// Gives it its name.
  Status finish();

 private:
  NewFolder(Path name, ScratchFolder scratch);
  Path name_;
  ScratchFolder scratch_;
  Path path_;
};

}  // namespace fettle
