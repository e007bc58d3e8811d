#include "verbs/environments/talk.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/archive.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/archives.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t piece = 64 * 1024;

/// Hands bytes on in both directions until the other side ends.
class Conversation {
 public:
  Conversation(Engine& engine, OpenExec& open, const TalkEnds& ends, bool tty, ByteSink sink,
               std::stop_token stop)
      : engine_(engine),
        open_(open),
        ends_(ends),
        sink_(std::move(sink)),
        stop_(std::move(stop)),
        input_(ends.input),
        tty_(tty) {}

  Status hold() {
    Poller poller(stop_);
    resize();
    while (true) {
      if (!TRY(take_output()))
        return {};
      // While the other side takes nothing, nothing more is read for it.
      const bool is_full = !typed_.empty();
      const auto events = static_cast<short>(is_full ? POLLIN | POLLOUT : POLLIN);
      std::array<pollfd, 3> waited{pollfd{open_.connection.descriptor(), events, 0},
                                   pollfd{is_full ? -1 : input_, POLLIN, 0},
                                   pollfd{ends_.resized, POLLIN, 0}};
      TRY(poller.wait(waited, for_ever));
      TRY(hand_on_typed());
      if (waited[2].revents != 0)
        take_resize();
      if (waited[1].revents != 0)
        TRY(hand_on_input());
    }
  }

 private:
  /// All that has come; false when the other side has ended.
  Result<bool> take_output() {
    while (const std::optional<size_t> count = TRY(open_.connection.read_ready(buffer_))) {
      if (*count == 0)
        return false;
      TRY(sink_({buffer_.data(), *count}));
    }
    return true;
  }

  Status hand_on_input() {
    std::array<char, piece> read_now{};
    const ssize_t count = ::read(input_, read_now.data(), read_now.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      return {};
    if (count > 0) {
      typed_.assign(read_now.data(), static_cast<size_t>(count));
      return hand_on_typed();
    }
    input_ = -1;
    // A terminal has no end but the key for it.
    if (tty_)
      return open_.connection.write("\x04", stop_);
    open_.connection.finish_writing();
    return {};
  }

  Status hand_on_typed() {
    if (!typed_.empty())
      typed_.erase(0, TRY(open_.connection.write_ready(typed_)));
    return {};
  }

  void take_resize() {
    std::array<char, 64> bells{};
    if (::read(ends_.resized, bells.data(), bells.size()) > 0)
      resize();
  }

  /// A window of another size is no reason to end.
  void resize() {
    const std::optional<WindowSize> size = ends_.size ? ends_.size() : std::nullopt;
    if (!size || size == told_)
      return;
    told_ = size;
    static_cast<void>(resize_exec(engine_, open_.id, size->rows, size->columns, stop_));
  }

  Engine& engine_;
  OpenExec& open_;
  const TalkEnds& ends_;
  ByteSink sink_;
  std::stop_token stop_;
  int input_;
  std::optional<WindowSize> told_;
  std::array<char, piece> buffer_{};
  std::string typed_;  ///< read and not handed on yet
  bool tty_;
};

/// Whether a path leads to standard output, which may be a file.
bool is_output(const fs::path& path) {
  struct stat about{}, output{};
  return stat(path.c_str(), &about) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
         about.st_dev == output.st_dev && about.st_ino == output.st_ino;
}

/// Writes a file into what exists here and cannot be replaced: a device, a pipe, a terminal.
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

/// Whether a path of a container is a folder: its archive begins with one.
Result<bool> is_folder_inside(Engine& engine, const std::string& container, const std::string& path,
                              const std::stop_token& stop) {
  constexpr size_t type_at = 156, head = 512;
  std::string begin;
  // The rest is not wanted, so the sink refuses it.
  const auto take = [&](std::string_view bytes) -> Status {
    begin += bytes.substr(0, head - std::min(head, begin.size()));
    if (begin.size() >= head)
      return world_error("enough");
    return {};
  };
  const Result<bool> found = get_archive(engine, container, path, take, stop);
  if (begin.size() < head)
    return found ? Result<bool>(false) : found;
  return begin[type_at] == '5';
}

}  // namespace

Result<int64_t> talk_inside(Engine& engine, const std::string& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& given, std::stop_token stop) {
  const StreamSink sink = without_engine_noise(given);
  OpenExec open = TRY(open_exec(engine, container, options, stop));
  ByteSink take =
      options.tty ? ByteSink([&](std::string_view bytes) { return sink(OutputStream::out, bytes); })
                  : frame_sink(sink);
  auto conversation =
      std::make_unique<Conversation>(engine, open, ends, options.tty, std::move(take), stop);
  if (Status held = conversation->hold(); !held) {
    end_exec(engine, container, open.id);
    return held.error();
  }
  return exec_code(engine, open.id, stop);
}

Result<int64_t> talk_inside(const Workplace& place, const ServiceView& service,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop) {
  Engine* const engine = TRY(engine_inside(place, stop));
  return talk_inside(*engine, TRY(container_of(service)), options, ends, sink, std::move(stop));
}

Status copy_into(const Workplace& place, const ServiceView& service, const std::string& source,
                 const std::string& given, std::stop_token stop) {
  std::error_code failure;
  if (!fs::exists(source, failure))
    return user_error(cat("`", source, "` does not exist"));
  const std::string target = TRY(absolute_inside(given));
  Engine* const engine = TRY(engine_inside(place, stop));
  const std::string container = TRY(container_of(service));
  const bool into =
      target.ends_with('/') || TRY(is_folder_inside(*engine, container, target, stop));
  const std::string folder = into ? target : parent_of(target);
  // Podman would make the folder, Docker refuses it.
  if ((into ? target.ends_with('/') : folder != "/") &&
      !TRY(is_folder_inside(*engine, container, folder, stop)))
    return user_error(cat("the service `", service.name, "` has no folder `", folder, "`"));
  const std::string name =
      into ? last_part(fs::absolute(source, failure).lexically_normal().string())
           : last_part(target);
  // A tar of the name that it is to have there.
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
    put = content ? put_archive(*engine, container, folder, std::move(*content), stop)
                  : Status(content.error());
  }
  fs::remove(tar, failure);
  return put;
}

Status unpack_inside(const Workplace& place, const ServiceView& service, ByteSource tar,
                     const std::string& given, std::stop_token stop) {
  const std::string folder = TRY(absolute_inside(given));
  Engine* const engine = TRY(engine_inside(place, stop));
  const std::string container = TRY(container_of(service));
  if (!TRY(is_folder_inside(*engine, container, folder, stop)))
    return user_error(
        cat("the service `", service.name, "` has no folder `", folder, "` to unpack into"));
  return put_archive(*engine, container, folder, std::move(tar), stop);
}

Status archive_of(const Workplace& place, const ServiceView& service, const std::string& given,
                  const ByteSink& write, std::stop_token stop) {
  const std::string source = TRY(absolute_inside(given));
  Engine* const engine = TRY(engine_inside(place, stop));
  if (!TRY(get_archive(*engine, TRY(container_of(service)), source, write, stop)))
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
  // What a link leads to is written, not the link.
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
  // Podman leaves out of an archive what is neither.
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
