#include "base/new_folder.h"

#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

Error unwritable(const Path& name, const std::error_code& why) {
  return world_error(cat("cannot write `", name.string(), "`: ", lower_case(why.message())));
}

}  // namespace

NewFolder::NewFolder(Path name, ScratchFolder scratch)
    : name_(std::move(name)),
      scratch_(std::move(scratch)),
      path_(Path(scratch_.path()) / "whole") {}

Result<NewFolder> NewFolder::make(const Path& given) {
  const Path name = given.has_filename() ? given : given.parent_path();
  std::error_code failure;
  const fs::file_type type = fs::symlink_status(name, failure).type();
  if (type == fs::file_type::none)
    return unwritable(name, failure);
  if (type != fs::file_type::not_found)
    return user_error(cat("`", name.string(), "` already exists; name a new folder"));
  const Path parent = name.has_parent_path() ? name.parent_path() : Path(".");
  TRY(make_directories(parent));
  NewFolder made(name, TRY(ScratchFolder::make(parent.string())));
  TRY(make_directories(made.path_));
  return made;
}

Status NewFolder::finish() {
  std::error_code failure;
  // A rename would take the place of an empty folder.
  if (fs::symlink_status(name_, failure).type() != fs::file_type::not_found)
    return user_error(cat("`", name_.string(), "` already exists; name a new folder"));
  fs::rename(path_, name_, failure);
  return failure ? Status(unwritable(name_, failure)) : Status();
}

}  // namespace fettle
