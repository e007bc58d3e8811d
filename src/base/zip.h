#pragma once
/// Archives that are small enough for the memory: zip, and tar with or without gzip around it. They
/// may come from anybody: no path leads out, links are left out, sizes are bounded, checksums hold.

#include <map>
#include <string>
#include <string_view>

#include "base/archive.h"

namespace fettle {

/// The files of a zip archive by path. Encrypted ones, several volumes, the 64 bit form and
/// compressions other than deflate are errors.
Result<std::map<std::string, std::string>> files_of_zip(std::string_view bytes,
                                                        const ArchiveLimits& limits);

/// The files of a zip or tar archive, which its first bytes tell.
Result<std::map<std::string, std::string>> files_of_archive(std::string bytes,
                                                            const ArchiveLimits& limits);

}  // namespace fettle
