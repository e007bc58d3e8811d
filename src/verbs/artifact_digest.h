#pragma once
/// A file or folder of this machine as a files artifact.

#include "core/driver.h"
#include "store/store.h"

namespace fettle {

/// The digest that `put_artifact` would give. Remembered with sizes and times of all files, so that
/// an unchanged tree is not read again.
Result<std::string> artifact_digest(Store& store, const std::string& path);

/// Packs it and puts it among the blobs; the answer is its digest.
Result<std::string> put_artifact(Blobs& blobs, const std::string& path);

}  // namespace fettle
