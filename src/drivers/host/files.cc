#include "drivers/host/files.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/http.h"
#include "base/text.h"
#include "drivers/host/rights.h"
#include "kinds/file.h"
#include "kinds/folder.h"
#include "kinds/link.h"

namespace fettle {
namespace {

constexpr mode_t mode_of_new_file = 0644, mode_of_new_folder = 0755;

/// The entry at a path. None: nothing is there.
Result<std::optional<struct stat>> stat_of(const Path& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0)
    return std::optional(there);
  if (errno == ENOENT || errno == ENOTDIR)
    return std::optional<struct stat>();
  return file_error("cannot look at", path);
}

std::string_view type_of(const struct stat& there) {
  return S_ISREG(there.st_mode)   ? "file"
         : S_ISDIR(there.st_mode) ? "folder"
         : S_ISLNK(there.st_mode) ? "link"
                                  : "device";
}

Error in_its_place(const Path& path, const struct stat& there) {
  return world_error(cat("there is a ", type_of(there), " at `", path.string(), "`"));
}

Result<std::string> target_of(const Path& path) {
  std::array<char, 4096> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0)
    return file_error("cannot read the link", path);
  return std::string(target.data(), static_cast<size_t>(size));
}

Result<std::string> digest_of_file(const Path& path, const std::stop_token& stop) {
  Sha256 hash;
  TRY(pump(TRY(source_of_file(path)), [&](std::string_view bytes) -> Status {
    if (stop.stop_requested())
      return cancelled_error();
    hash.add(bytes);
    return {};
  }));
  return hash.hex();
}

/// A place beside the path for a file that is being made. The next act removes what an interrupted
/// one left there.
Path place_beside(const Path& path) {
  return path.parent_path() /
         cat(".", to_string(fingerprint(path.filename().string())).substr(0, 16), ".fettle");
}

Status write_fully(int file, std::string_view bytes, const Path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return file_error("cannot write", path);
    bytes.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return {};
}

/// Puts everything of `source` at a path at once, with its rights.
Status replace_file(const Path& path, const ByteSource& source, const Rights& rights,
                    const std::stop_token& stop) {
  const Path beside = place_beside(path);
  if (unlink(beside.c_str()) != 0 && errno != ENOENT)
    return file_error("cannot write", path);
  Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open())
    return file_error("cannot write", path);
  Status written = pump(source, [&](std::string_view bytes) -> Status {
    if (stop.stop_requested())
      return cancelled_error();
    return write_fully(file.get(), bytes, path);
  });
  file.close();
  if (written)
    written = set_rights(beside, rights);
  if (written && rename(beside.c_str(), path.c_str()) != 0)
    written = file_error("cannot write", path);
  if (!written)
    unlink(beside.c_str());
  return written;
}

Result<ByteSource> content_of(const File& file, Blobs& blobs) {
  const Value& given = file.content.value();
  const Value& content = given.is_secret() ? given.inside() : given;
  if (content.is_text())
    return source_of(content.text().str());
  if (file.digest.empty())
    return source_of("");
  return TRY(blobs.open(file.digest.view())).source;
}

Outcome done(PathOutputs outputs, bool changed) {
  return Done{write(outputs), outputs.path.str(), changed};
}

template <typename PathStruct>
PathOutputs owned_outputs(const PathStruct& wanted) {
  return {.path = wanted.path.get(),
          .mode = wanted.mode.value(),
          .owner = wanted.owner.value(),
          .group = wanted.group.value()};
}

Outcome removed(const Path& path, bool changed) { return done({.path = path.string()}, changed); }

}  // namespace

std::optional<PathSeen> look_at_path(const std::string& path, const std::stop_token& stop) {
  const auto found = stat_of(path);
  if (found && !*found)
    return std::nullopt;
  if (!found)
    return PathSeen{.type = "riddle"};
  const struct stat& there = **found;
  std::string mode(4, '0');
  for (int i = 0; i < 4; ++i)
    mode[static_cast<size_t>(i)] = static_cast<char>('0' + (there.st_mode >> (9 - 3 * i) & 7));
  PathSeen seen{.type = type_of(there),
                .mode = mode,
                .owner = name_of_user(there.st_uid),
                .group = name_of_group(there.st_gid),
                .uid = std::to_string(there.st_uid),
                .gid = std::to_string(there.st_gid)};
  if (S_ISREG(there.st_mode))
    seen.digest = digest_of_file(path, stop).value_or("");
  if (S_ISLNK(there.st_mode))
    seen.leads_to = target_of(path).value_or("");
  return seen;
}

Result<Outcome> make_file(const Act& act, Blobs& blobs, const std::stop_token& stop) {
  const File file = read<File>(act.attributes);
  const Path path(file.path.view());
  PathOutputs outputs = owned_outputs(file);
  outputs.digest = file.digest.value();
  const std::optional<struct stat> there = TRY(stat_of(path));
  const bool is_file = there && S_ISREG(there->st_mode);
  if (there && !is_file && !S_ISLNK(there->st_mode))
    return in_its_place(path, *there);
  if (file.purged.get()) {
    if (there && unlink(path.c_str()) != 0 && errno != ENOENT)
      return file_error("cannot remove", path);
    return done(outputs, there.has_value());
  }
  const Rights rights =
      TRY(wanted_rights(ownership_of(file), is_file ? &*there : nullptr, mode_of_new_file));
  const std::string_view digest = file.digest.view();
  const bool same = is_file && (digest.empty() || TRY(digest_of_file(path, stop)) == digest);
  if (same && has_rights(*there, rights))
    return done(outputs, false);
  if (same)
    TRY(set_rights(path, rights));
  else
    TRY(replace_file(path, TRY(content_of(file, blobs)), rights, stop));
  return done(outputs, true);
}

Result<Outcome> make_folder(const Act& act) {
  const Folder folder = read<Folder>(act.attributes);
  const Path path(folder.path.view());
  const PathOutputs outputs = owned_outputs(folder);
  const std::optional<struct stat> there = TRY(stat_of(path));
  if (there && !S_ISDIR(there->st_mode))
    return in_its_place(path, *there);
  if (folder.purged.get()) {
    TRY(remove_tree(path));
    return done(outputs, there.has_value());
  }
  const Rights rights =
      TRY(wanted_rights(ownership_of(folder), there ? &*there : nullptr, mode_of_new_folder));
  if (there && has_rights(*there, rights))
    return done(outputs, false);
  // Nobody else may look into a new one before it has its rights.
  if (!there && mkdir(path.c_str(), 0700) != 0)
    return file_error("cannot create the folder", path);
  TRY(set_rights(path, rights));
  return done(outputs, true);
}

Result<Outcome> make_link(const Act& act) {
  const Link link = read<Link>(act.attributes);
  const Path path(link.path.view());
  const PathOutputs outputs{.path = link.path.get(), .leads_to = link.leads_to.value()};
  const std::optional<struct stat> there = TRY(stat_of(path));
  if (there && !S_ISLNK(there->st_mode))
    return in_its_place(path, *there);
  if (link.purged.get()) {
    if (there && unlink(path.c_str()) != 0 && errno != ENOENT)
      return file_error("cannot remove", path);
    return done(outputs, there.has_value());
  }
  const std::string leads_to = link.leads_to.get().str();
  if (there && TRY(target_of(path)) == leads_to)
    return done(outputs, false);
  const Path beside = place_beside(path);
  unlink(beside.c_str());
  if (symlink(leads_to.c_str(), beside.c_str()) != 0)
    return file_error("cannot create the link", path);
  if (rename(beside.c_str(), path.c_str()) != 0) {
    Error error = file_error("cannot create the link", path);
    unlink(beside.c_str());
    return error;
  }
  return done(outputs, true);
}

Result<Outcome> remove_path(const Act& act) {
  // It was put where its references led then; they may lead elsewhere by now.
  const Name made = act.known == nullptr ? Name() : read<PathOutputs>(act.known->outputs).path;
  const Hole<Name> wanted = read<Link>(act.attributes).path;  // all kinds with a path have one
  if (made.empty() && !wanted.is_text())
    return world_error(
        "cannot tell where it is: its path refers to a value that is no longer known");
  const Path path(made.empty() ? wanted.view() : made.view());
  const std::optional<struct stat> there = TRY(stat_of(path));
  if (!there || type_of(*there) != act.key.kind)
    return removed(path, false);
  const bool is_gone =
      S_ISDIR(there->st_mode) ? rmdir(path.c_str()) == 0 : unlink(path.c_str()) == 0;
  if (!is_gone && (errno == ENOTEMPTY || errno == EEXIST))
    return world_error(
        cat("`", path.string(), "` is not empty, and fettle did not create its content"));
  if (!is_gone && errno != ENOENT)
    return file_error("cannot remove", path);
  return removed(path, true);
}

}  // namespace fettle
