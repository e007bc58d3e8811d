#pragma once
/// Puts files into containers that were created and not started, and takes files out of any.

#include <string>

#include "drivers/engine/service_body.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Unpacks the artifacts of each mount at its path. Several artifacts go into one path in their
/// order.
Status put_files(const Site& site, const std::string& container, const std::vector<Mount>& mounts,
                 std::stop_token stop);

/// Takes a file, a folder, or what a pattern (`/out/*.json`, `/out/*`) matches in a folder, and
/// puts it among the blobs as a reproducible tar. Returns its digest. The names in the tar are
/// relative to the folder above.
Result<std::string> take_files(const Site& site, const std::string& container,
                               const std::string& path, std::stop_token stop);

}  // namespace fettle
