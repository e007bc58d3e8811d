#pragma once
/// Files and folders of this machine as contents: the digest of a file or of the tar that a folder
/// is packed into. What has not changed since the last time, by its place, size and times, is not
/// read again.

#include "workplace/workplace.h"

namespace fettle {

/// Reads only, for what may come to nothing.
Result<std::string> artifact_digest(const Workplace& place, const std::string& path);

/// Packs it among the contents, unless it is there; the answer is its digest.
Result<std::string> put_artifact(const Workplace& place, const std::string& path);

}  // namespace fettle
