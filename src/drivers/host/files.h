#pragma once
/// Files, folders and links of this machine: looking, making, taking away. What is there is
/// compared before anything is written, and a file is written beside itself and renamed, so that
/// nobody ever sees half of it. Links in the last part of a path are never followed.

#include "core/driver.h"
#include "kinds/owned.h"

namespace fettle {

/// What is at a path, as `src/kinds/file.cc` says; null when nothing is there. The digest is made
/// for files only. What cannot be looked at has the type `riddle`.
std::optional<PathSeen> look_at_path(const std::string& path, const std::stop_token& stop);

Result<Outcome> make_file(const Act& act, Blobs& blobs, const std::stop_token& stop);
Result<Outcome> make_folder(const Act& act);
Result<Outcome> make_link(const Act& act);

/// Takes away what nobody wants any more, as it was applied: a file or link, or a folder in which
/// there is nothing. What turns out to be something else is not ours and stays.
Result<Outcome> remove_path(const Act& act);

}  // namespace fettle
