#pragma once
/// Files and folders of this machine as contents: the digest of a file or of the tar that a folder
/// is packed into. Files that have not changed since the last time, by their place, size and times,
/// are not read again.

#include <filesystem>
#include <functional>

#include "workplace/workplace.h"

namespace fettle {

/// Only computes the digest, for an upload that may never happen.
Result<std::string> artifact_digest(const Workplace& place, const std::string& path);

/// Packs it among the contents, unless it is there already. Returns its digest.
Result<std::string> put_artifact(const Workplace& place, const std::string& path);

/// Something that is packed, and what of it is remembered.
struct PackedSource {
  std::string key;  ///< in the cache
  std::function<Result<Digest>()> stamp;
  /// Answers what is remembered beside the digest.
  std::function<Result<Value>(const ByteSink& sink)> pack;
};
/// `{"digest", "parts"}` of a packing: what is remembered, if its stamp is still the same.
/// `keeps`: the bytes are among the contents afterwards.
Result<Value> packed(const Workplace& place, const PackedSource& packing, bool keeps);

/// Adds what shows that a file has not changed: its place on the disk, its size and its times.
void add_stamp(std::string& stamps, const std::filesystem::path& path, std::string_view name);

}  // namespace fettle
