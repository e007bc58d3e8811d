#include "verbs/artifact_digest.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/archive.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// What tells that a file has not changed: its place on the disk, size and times.
void add_stamp(std::string& stamps, const fs::path& path, std::string_view name) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0)
    return;
  stamps += cat(name, "\n", found.st_dev, " ", found.st_ino, " ", found.st_size, " ", found.st_mode,
                " ", found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec, " ", found.st_ctim.tv_sec,
                ".", found.st_ctim.tv_nsec, "\n");
}

Result<Digest> stamp_of(const std::string& path) {
  std::string stamps;
  add_stamp(stamps, path, "");
  std::error_code failure;
  if (fs::is_directory(path, failure))
    for (const TreeEntry& entry : TRY(list_tree(path)))
      add_stamp(stamps, fs::path(path) / entry.path, entry.path);
  return fingerprint(stamps);
}

/// A folder is packed with what is in it, a file under its name.
Status pack(const std::string& path, const ByteSink& sink) {
  std::error_code failure;
  if (fs::is_directory(path, failure))
    return pack_tree(path, sink);
  ArchiveWriter writer(sink);
  const auto status = fs::status(path, failure);
  ArchiveEntry entry;
  entry.path = fs::path(path).filename().string();
  entry.size = fs::file_size(path, failure);
  if (failure)
    return user_error(cat("cannot read `", path, "`: ", failure.message()));
  entry.mode = (status.permissions() & fs::perms::owner_exec) != fs::perms::none ? 0755 : 0644;
  TRY(writer.add(entry, TRY(source_of_file(path))));
  return writer.finish();
}

}  // namespace

Result<std::string> artifact_digest(Store& store, const std::string& path) {
  const Digest stamp = TRY(stamp_of(path));
  const std::string note = "digest of " + path;
  if (const std::optional<Value> before = TRY(store.note("", note));
      before && before->text_at("stamp") == to_string(stamp))
    return std::string(before->text_at("digest"));
  Sha256 hash;
  TRY(pack(path, [&](std::string_view bytes) -> Status {
    hash.add(bytes);
    return {};
  }));
  const std::string digest = hash.hex();
  TRY(store.put_note("", note, Value::dict({{"stamp", to_string(stamp)}, {"digest", digest}})));
  return digest;
}

Result<std::string> put_artifact(Blobs& blobs, const std::string& path) {
  const TemporaryDirectory folder = TRY(TemporaryDirectory::make());
  const Path file = folder.path() / "artifact.tar";
  {
    std::ofstream out(file, std::ios::binary);
    TRY(pack(path, [&](std::string_view bytes) -> Status {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      return out ? Status() : Status(world_error(cat("cannot write `", file.string(), "`")));
    }));
    out.close();
    if (!out)
      return world_error(cat("cannot write `", file.string(), "`"));
  }
  return blobs.put_file(file.string());
}

}  // namespace fettle
