#pragma once
/// Files into containers that were created and not started, and out of any.

#include <string>

#include "drivers/engine/service_body.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Unpacks the artifacts of each mount at its path, several into one in their order.
Status put_files(const Site& site, const std::string& container, const std::vector<Mount>& mounts,
                 std::stop_token stop);

/// Takes a file, a folder, or what a pattern (`/out/*.json`, `/out/*`) matches in a folder, as a
/// reproducible tar among the blobs; the answer is its digest. The names in it are relative to the
/// folder above.
Result<std::string> take_files(const Site& site, const std::string& container,
                               const std::string& path, std::stop_token stop);

}  // namespace fettle
