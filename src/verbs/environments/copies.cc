#include "verbs/environments/copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/archive.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// Whether a path leads to standard output, which may be a file.
bool is_output(const fs::path& path) {
  struct stat about{}, output{};
  return stat(path.c_str(), &about) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
         about.st_dev == output.st_dev && about.st_ino == output.st_ino;
}

/// Writes a file into something that exists here and cannot be replaced: a device, a pipe, a
/// terminal.
Status write_into_special(const fs::path& source, const fs::path& target) {
  const Descriptor file(is_output(target) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : ::open(target.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open())
    return file_error("cannot open", target.string());
  return pump(TRY(source_of_file(source.string())), [&](std::string_view bytes) -> Status {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return file_error("cannot write", target.string());
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return {};
  });
}

/// The last component of a path, without slashes at its end.
std::string last_part(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? "/" : std::string(path.substr(0, slash));
}

Result<std::string> absolute_inside(const std::string& path) {
  if (!path.starts_with('/'))
    return user_error(cat("the path `", path, "` in the service must start with `/`"));
  return path;
}

}  // namespace

Status copy_into(const Workplace& place, const ServiceView& service, const std::string& source,
                 const std::string& given, std::stop_token stop) {
  std::error_code failure;
  if (!fs::exists(source, failure))
    return user_error(cat("`", source, "` does not exist"));
  const std::string target = TRY(absolute_inside(given));
  ContainerEngine* const engine = TRY(engine_inside(place));
  const std::string container = TRY(container_of(service));
  const bool into = target.ends_with('/') || TRY(engine->is_folder(container, target, stop));
  const std::string folder = into ? target : parent_of(target);
  // Podman would make the folder; Docker refuses to.
  if ((into ? target.ends_with('/') : folder != "/") &&
      !TRY(engine->is_folder(container, folder, stop)))
    return user_error(cat("the service `", service.name, "` has no folder `", folder, "`"));
  const std::string name =
      into ? last_part(fs::absolute(source, failure).lexically_normal().string())
           : last_part(target);
  // A tar with the name that the file will have there.
  const ScratchFolder scratch = TRY(ScratchFolder::make(fs::temp_directory_path(failure).string()));
  fs::copy(source, scratch.path() + "/" + name,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks, failure);
  if (failure)
    return world_error(cat("cannot read `", source, "`: ", lower_case(failure.message())));
  const std::string tar = scratch.path() + ".tar";
  Status put =
      write_file(tar, [&](const ByteSink& write) { return pack_tree(scratch.path(), write); });
  if (put) {
    Result<ByteSource> content = source_of_file(tar);
    put = content ? engine->put_archive(container, folder, std::move(*content), stop)
                  : Status(content.error());
  }
  fs::remove(tar, failure);
  return put;
}

Status unpack_inside(const Workplace& place, const ServiceView& service, ByteSource tar,
                     const std::string& given, std::stop_token stop) {
  const std::string folder = TRY(absolute_inside(given));
  ContainerEngine* const engine = TRY(engine_inside(place));
  const std::string container = TRY(container_of(service));
  if (!TRY(engine->is_folder(container, folder, stop)))
    return user_error(
        cat("the service `", service.name, "` has no folder `", folder, "` to unpack into"));
  return engine->put_archive(container, folder, std::move(tar), stop);
}

Status archive_of(const Workplace& place, const ServiceView& service, const std::string& given,
                  const ByteSink& write, std::stop_token stop) {
  const std::string source = TRY(absolute_inside(given));
  ContainerEngine* const engine = TRY(engine_inside(place));
  if (!TRY(engine->get_archive(TRY(container_of(service)), source, write, stop)))
    return user_error(cat("the service `", service.name, "` has nothing at `", source, "`"));
  return {};
}

Status copy_out_of(const Workplace& place, const ServiceView& service, const std::string& given,
                   const std::string& target, std::stop_token stop) {
  const std::string source = TRY(absolute_inside(given));
  std::error_code failure;
  const bool into = fs::is_directory(target, failure);
  const std::string name = last_part(source);
  fs::path end = into ? fs::path(target) / name : fs::path(target);
  // The target of a link is written, not the link.
  if (fs::is_symlink(end, failure) && fs::exists(end, failure))
    if (fs::path real = fs::canonical(end, failure); !failure)
      end = std::move(real);
  const bool is_special = fs::exists(end, failure) && !fs::is_directory(end, failure) &&
                          (!fs::is_regular_file(end, failure) || is_output(end));
  const std::string beside = is_special              ? fs::temp_directory_path(failure).string()
                             : end.has_parent_path() ? end.parent_path().string()
                                                     : ".";
  if (!fs::is_directory(beside, failure))
    return user_error(cat("the folder `", beside, "` does not exist"));
  const ScratchFolder scratch = TRY(ScratchFolder::make(beside));
  const std::string tar = scratch.path() + "/tar";
  TRY(write_file(
      tar, [&](const ByteSink& write) { return archive_of(place, service, given, write, stop); }));
  const std::string unpacked = scratch.path() + "/all";
  TRY(unpack(TRY(source_of_file(tar)), unpacked, {.links_may_leave = true})
          .context(cat("copying `", source, "` out of `", service.name, "`")));
  const fs::path made = fs::path(unpacked) / name;
  const fs::file_status status = fs::symlink_status(made, failure);
  // Podman leaves everything else out of an archive.
  if (!fs::exists(status))
    return user_error(cat("`", source, "` of the service `", service.name,
                          "` is a device, a pipe or a socket, which cannot be copied"));
  const bool is_folder = fs::is_directory(status);
  if (fs::is_directory(end, failure) || (is_folder && fs::exists(end, failure)))
    return user_error(cat("`", end.string(), "` already exists"));
  if (is_special)
    return fs::is_regular_file(status) ? write_into_special(made, end)
                                       : Status(user_error(cat("`", source, "` is a link, which `",
                                                               end.string(), "` cannot hold")));
  fs::rename(made, end, failure);
  if (failure)
    return world_error(cat("cannot write `", end.string(), "`: ", lower_case(failure.message())));
  return {};
}

Status copy_between(const Workplace& place, const ServiceView& from, const std::string& source,
                    const ServiceView& to, const std::string& target, std::stop_token stop) {
  std::error_code failure;
  const ScratchFolder scratch = TRY(ScratchFolder::make(fs::temp_directory_path(failure).string()));
  TRY(copy_out_of(place, from, source, scratch.path(), stop));
  return copy_into(place, to, cat(scratch.path(), "/", last_part(TRY(absolute_inside(source)))),
                   target, stop);
}

}  // namespace fettle
