#pragma once
/// What must outlast a power cut.

#include "base/file.h"

namespace fettle {

/// Waits until a file, or the names in a folder, are on the disk.
Status sync_to_disk(const Path& path);

}  // namespace fettle
