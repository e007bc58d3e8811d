#pragma once
/// Files and folders of this machine as contents: the digest of a file or of the tar that a folder
/// is packed into. Files that have not changed since the last time, by their place, size and times,
/// are not read again.

#include <filesystem>

#include "workplace/workplace.h"

namespace fettle {

/// Only computes the digest, for an upload that may never happen.
Result<std::string> artifact_digest(const Workplace& place, const std::string& path);

/// Packs it among the contents, unless it is there already. Returns its digest.
Result<std::string> put_artifact(const Workplace& place, const std::string& path);

/// Adds what shows that a file has not changed: its place on the disk, its size and its times.
void add_stamp(std::string& stamps, const std::filesystem::path& path, std::string_view name);

}  // namespace fettle
