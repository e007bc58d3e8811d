#include "drivers/engine/enclosure.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr int mark_rounds = 1'000;
constexpr int term_rounds = 40, kill_rounds = 60;
constexpr Duration interval = 50ms, lock_limit = 1min;

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value <= 0)
    return {};
  return value;
}

Path namespace_of(pid_t pid) { return Path("/proc") / std::to_string(pid) / "ns/mnt"; }

/// All processes of this machine for which `is_meant` holds.
std::vector<pid_t> processes(const std::function<bool(pid_t)>& is_meant) {
  std::vector<pid_t> found;
  std::error_code code;
  for (fs::directory_iterator it("/proc", code), end; !code && it != end; it.increment(code)) {
    const auto pid = number(it->path().filename().string());
    if (pid && is_meant(*pid))
      found.push_back(*pid);
  }
  return found;
}

int become_holder() {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
    return errno;
  return 0;
}

}  // namespace

Result<Descriptor> Enclosure::lock(const std::stop_token& stop) const {
  TRY(make_directories(root_));
  Descriptor folder = TRY(open_to_read(root_));
  const auto began = std::chrono::steady_clock::now();
  while (flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return file_error("cannot lock", root_);
    if (left_of(lock_limit, began) == 0s)
      return world_error(cat("another process is starting or stopping the engine in `",
                             root_.string(), "`; waited for ", to_string(lock_limit)));
    TRY(pause_for(interval, stop));
  }
  return folder;
}

bool Enclosure::is_ours(pid_t pid) const {
  const auto variables = read_file(Path("/proc") / std::to_string(pid) / "environ");
  const std::string mark = cat("FETTLE_ENGINE=", root_.string());
  if (variables)
    for (const std::string_view line : split(*variables, '\0'))
      if (line == mark)
        return true;
  return false;
}

std::optional<pid_t> Enclosure::process(std::string_view name) const {
  const auto text = read_file(root_ / cat(name, ".pid"));
  const auto pid = text ? number(trim(*text)) : std::optional<pid_t>();
  return pid && is_ours(*pid) ? pid : std::nullopt;
}

Status Enclosure::remember(std::string_view name, pid_t pid) const {
  TRY(write_file(root_ / cat(name, ".pid"), std::to_string(pid)));
  // A program that has just started gets its variables only a moment later.
  for (int i = 0; i < mark_rounds && !process(name) && kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(1ms);
  return {};
}

Status Enclosure::start() {
  Invocation command{.arguments = {"sleep", "infinity"}};
  command.environment = {{"FETTLE_ENGINE", root_.string()}};
  command.directory = "/";
  command.is_own = true;
  command.prepare = become_holder;
  const pid_t pid = TRY(start_detached(command).context(
      cat("making a mount namespace for the engine in `", root_.string(), "`")));
  return remember("holder", pid);
}

Result<Invocation> Enclosure::inside(Invocation command) const {
  const auto holder = process("holder");
  if (!holder)
    return world_error(cat("the engine in `", root_.string(), "` is not running"));
  // The closure keeps it open for as long as the command may be started.
  const auto space = std::make_shared<Descriptor>(TRY(open_to_read(namespace_of(*holder))));
  command.environment.emplace_back("FETTLE_ENGINE", root_.string());
  if (command.directory.empty())
    command.directory = "/";
  command.prepare = [space] {
    return setns(space->get(), CLONE_NEWNS) != 0 || chdir("/") != 0 ? errno : 0;
  };
  return command;
}

Result<ProcessResult> Enclosure::run(Invocation command, std::stop_token stop) const {
  const Invocation entered = TRY(inside(std::move(command)));
  return run_process(entered, stop);
}

Result<pid_t> Enclosure::start_inside(Invocation command, const Path& log) const {
  const Invocation entered = TRY(inside(std::move(command)));
  return start_detached(entered, log);
}

Status Enclosure::end() {
  const auto holder = process("holder");
  std::error_code code;
  const Path space = holder ? fs::read_symlink(namespace_of(*holder), code) : Path();
  if (code || space == fs::read_symlink("/proc/self/ns/mnt", code))  // never our own
    return world_error("cannot determine the namespace of the engine");
  const auto is_meant = [&](pid_t pid) {
    if (!holder)  // without root there is none, and the marks must do
      return is_ours(pid);
    std::error_code unreadable;
    return fs::read_symlink(namespace_of(pid), unreadable) == space && !unreadable;
  };
  for (int i = 0; i < kill_rounds; ++i) {
    const std::vector<pid_t> left = processes(is_meant);
    if (left.empty())
      return {};
    if (i == 0 || i == term_rounds)
      for (const pid_t pid : left)
        kill(pid, i == 0 ? SIGTERM : SIGKILL);
    std::this_thread::sleep_for(i < 4 ? interval / 5 : interval);
  }
  return world_error(cat("processes of the engine in `", root_.string(), "` cannot be stopped"));
}

}  // namespace fettle
