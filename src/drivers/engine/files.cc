#include "drivers/engine/files.h"

#include <fnmatch.h>

#include <set>

#include "base/archive.h"
#include "base/text.h"
#include "drivers/engine/archives.h"

namespace fettle {
namespace {

constexpr size_t most_moved = 256 << 20;

bool is_pattern(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

/// The tar of a mount with nothing but what is moved into a folder, where that belongs in it.
/// `found` gets what was there.
Result<std::string> moved_parts(const Site& site, const Mount& mount, const std::string& folder,
                                const std::string& digest, std::set<std::string>& found) {
  std::string made;
  ArchiveWriter writer([&](std::string_view bytes) -> Status {
    made += bytes;
    return made.size() > most_moved
               ? Status(user_error(cat("files that are moved may have ", most_moved >> 20, " MB")))
               : Status();
  });
  Blob tar = TRY(site.blobs.open(digest));
  ArchiveReader reader(std::move(tar.source), {.links_may_leave = true});
  while (std::optional<ArchiveEntry> entry = TRY(reader.next()))
    for (const MovedFile& moved : mount.moved) {
      const std::string_view path = entry->path;
      const bool is_it = path == moved.from || path.starts_with(cat(moved.from, "/"));
      if (!is_it || moved.folder != folder)
        continue;
      found.insert(moved.from);
      ArchiveEntry at = *entry;
      at.path = TRY(inner_path(cat(moved.to, path.substr(moved.from.size()))));
      TRY(writer.add(at, [&](std::span<char> into) { return reader.read(into); }));
      break;
    }
  TRY(writer.finish());
  return made;
}

/// Last, so that a file counts before a folder in which it is put.
Status put_moved(const Site& site, const std::string& container, const Mount& mount,
                 const std::stop_token& stop) {
  std::set<std::string> folders;
  for (const MovedFile& moved : mount.moved)
    folders.insert(moved.folder);
  std::set<std::string> found;
  for (const std::string& folder : folders)
    for (const std::string& digest : mount.digests)
      TRY(put_archive(site.engine, container, folder,
                      source_of(TRY(moved_parts(site, mount, folder, digest, found))), stop)
              .context(cat("putting files into `", folder, "`")));
  for (const MovedFile& moved : mount.moved)
    if (!found.contains(moved.from))
      return user_error(cat("`files_to_be_moved`: there is no `", printable(moved.from), "` in `",
                            printable(mount.path), "`"));
  return {};
}

}  // namespace

Status put_files(const Site& site, const std::string& container, const std::vector<Mount>& mounts,
                 std::stop_token stop) {
  for (const Mount& mount : mounts) {
    if (!mount.moved.empty())
      continue;
    for (const std::string& digest : mount.digests) {
      Blob tar = TRY(site.blobs.open(digest));
      TRY(put_archive(site.engine, container, mount.path, std::move(tar.source), stop)
              .context(cat("putting files to `", mount.path, "`")));
    }
  }
  for (const Mount& mount : mounts)
    TRY(put_moved(site, container, mount, stop));
  return {};
}

Result<std::string> take_files(const Site& site, const std::string& container,
                               const std::string& path, std::stop_token stop) {
  const size_t slash = path.rfind('/');
  if (!path.starts_with('/'))
    return user_error(cat("`", path, "` is not an absolute path"));
  const std::string last = path.substr(slash + 1);
  const bool matching = last.empty() || is_pattern(last);
  const std::string folder = path.substr(0, slash);
  const std::string wanted = matching ? (folder.empty() ? "/" : folder) : path;
  const TemporaryDirectory place = TRY(TemporaryDirectory::make());
  ByteSink raw = TRY(sink_to_file(place.path() / "raw", ArchiveLimits().bytes));
  if (!TRY(get_archive(site.engine, container, wanted, raw, stop)))
    return world_error(cat("there is nothing at `", wanted, "` in the container"));
  RepackOptions options;
  if (matching) {
    options.strip = 1;
    options.take = [&](const std::string& name) {
      const std::string first = name.substr(0, name.find('/'));
      // Nothing and `*` mean all of a folder; any other pattern means what it means to a shell.
      return last.empty() || last == "*" || fnmatch(last.c_str(), first.c_str(), FNM_PERIOD) == 0;
    };
  }
  const ByteSource source = TRY(source_of_file(place.path() / "raw"));
  const std::unique_ptr<Blobs::Draft> packed = TRY(site.blobs.begin());
  const size_t count =
      TRY(repack(source, [&](std::string_view bytes) { return packed->add(bytes); }, options));
  if (count == 0 && is_pattern(last))
    return world_error(cat("nothing in the container matches `", path, "`"));
  return packed->finish();
}

}  // namespace fettle
