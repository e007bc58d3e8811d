#include "verbs/packages/artifact_digest.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/archive.h"
#include "base/text.h"
#include "packages/ignore_rules.h"

namespace fettle {

namespace fs = std::filesystem;

void add_stamp(std::string& stamps, const fs::path& path, std::string_view name) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0)
    return;
  stamps += cat(name, "\n", found.st_dev, " ", found.st_ino, " ", found.st_size, " ", found.st_mode,
                " ", found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec, " ", found.st_ctim.tv_sec,
                ".", found.st_ctim.tv_nsec, "\n");
}

namespace {

/// If a link itself is uploaded, its target counts, since the target is packed.
Result<Digest> stamp_of(const std::string& path) {
  std::string stamps;
  add_stamp(stamps, path, "");
  std::error_code failure;
  const fs::path target = fs::canonical(path, failure);
  if (!failure)
    add_stamp(stamps, target, target.string());
  if (fs::is_directory(path, failure)) {
    const IgnoreRules ignored = TRY(IgnoreRules::of_folder(path));
    for (const TreeEntry& entry : TRY(list_tree(path)))
      if (!ignored.has(entry.path, entry.type == TreeEntry::Type::directory))
        add_stamp(stamps, fs::path(path) / entry.path, entry.path);
  }
  return fingerprint(stamps);
}

/// Packs a folder with everything in it that is not ignored, or a file under its name.
Status pack(const std::string& path, const ByteSink& sink) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    const IgnoreRules ignored = TRY(IgnoreRules::of_folder(path));
    return pack_tree(path, sink, {.leaves_out = [&](std::string_view inner, bool is_folder) {
                       return ignored.has(inner, is_folder);
                     }});
  }
  ArchiveWriter writer(sink);
  const auto status = fs::status(path, failure);
  ArchiveEntry entry;
  entry.path = fs::path(path).filename().string();
  entry.size = fs::file_size(path, failure);
  if (failure)
    return user_error(cat("cannot read `", path, "`: ", failure.message()));
  entry.mode = static_cast<unsigned>(status.permissions()) & 0777;
  TRY(writer.add(entry, TRY(source_of_file(path))));
  return writer.finish();
}

PackedSource packing_of(const std::string& path) {
  return {cat("digest with modes of ", path), [path] { return stamp_of(path); },
          [path](const ByteSink& sink) -> Result<Value> {
            TRY(pack(path, sink));
            return Value();
          }};
}

}  // namespace

Result<Value> packed(const Workplace& place, const PackedSource& packing, bool keeps) {
  const Value stamp(to_string(TRY(packing.stamp())));
  const std::optional<Value> before = TRY(place.store->cached(packing.key));
  if (before && before->at("stamp") == stamp &&
      (!keeps || TRY(place.blobs->has(before->text_at("digest")))))
    return *before;
  const std::unique_ptr<Blobs::Draft> draft = keeps ? TRY(place.blobs->begin()) : nullptr;
  Sha256 hash;
  Value parts = TRY(packing.pack([&](std::string_view bytes) -> Status {
    if (draft)
      return draft->add(bytes);
    hash.add(bytes);
    return {};
  }));
  Value made = Value::dict({{"stamp", stamp},
                            {"digest", draft ? TRY(draft->finish()) : hash.hex()},
                            {"parts", std::move(parts)}});
  // If files changed while they were read, they are read again the next time.
  if (Value(to_string(TRY(packing.stamp()))) == stamp)
    TRY(place.store->cache(packing.key, made, place.clock()));
  return made;
}

Result<std::string> artifact_digest(const Workplace& place, const std::string& path) {
  return std::string(TRY(packed(place, packing_of(path), false)).text_at("digest"));
}

Result<std::string> put_artifact(const Workplace& place, const std::string& path) {
  return std::string(TRY(packed(place, packing_of(path), true)).text_at("digest"));
}

}  // namespace fettle
