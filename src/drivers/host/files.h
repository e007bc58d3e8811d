#pragma once
/// Looks at, makes and removes files, folders and links of this machine. Existing ones are compared
/// before anything is written. A file is written beside its place and renamed, so that nobody ever
/// sees half of it. A link in the last part of a path is never followed.

#include "core/driver.h"
#include "kinds/owned.h"

namespace fettle {

/// What is at a path, as `src/kinds/file.cc` says; null when nothing is there. The digest is made
/// for files only. What cannot be looked at has the type `riddle`.
std::optional<PathSeen> look_at_path(const std::string& path, const std::stop_token& stop);

Result<Outcome> make_file(const Act& act, Blobs& blobs, const std::stop_token& stop);
Result<Outcome> make_folder(const Act& act);
Result<Outcome> make_link(const Act& act);

/// Removes something that nobody wants any more, as it was applied: a file or link, or an empty
/// folder. If it turns out to be something else, it is not ours and stays.
Result<Outcome> remove_path(const Act& act);

}  // namespace fettle
